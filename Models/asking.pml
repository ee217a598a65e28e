/* Asking to be recovered, with a stranger in the way.
 *
 * Who: a person who has lost all devices, guardians who recognise that person, a server that does what it should, and a stranger
 * with an account who does all the harm that the rules allow, for ever. Property P6: whoever asks is recovered in the end,
 * whatever the order, provided only that nobody is kept waiting for ever who could act (weak fairness, pan -f).
 */
#define ROOM 2 /* requests that the asking box of one account holds, and answers that a request holds */

byte stranger_asks;  /* the stranger's requests in the box */
bool asked;          /* the person's request is in the box */
bool endorsed;       /* a guardian has signed for it with the ask key */
byte pending;        /* what the log has under way: */
#define NOTHING 0
#define OWN 1
#define STRANGERS 2
byte stranger_answers;
bool answered;       /* the guardians' parts are with the request */
bool recovered;
bool same;           /* a request of the stranger's has the number of the person's */

#define FULL (stranger_asks + (asked -> 1 : 0) >= ROOM)
#ifdef NO_RESERVED_ROOM
#define ROOM_FOR_ANSWER (stranger_answers < ROOM)
#else
#define ROOM_FOR_ANSWER true /* answers tagged with the ask key have their own */
#endif

active proctype stranger() {
	do
#ifdef NO_FREE_NUMBER
	/* Minutes of one core: a request whose hash gives the same number. */
	:: atomic { asked && stranger_asks > 0 && !same -> same = true }
	:: atomic { same -> same = false }
#endif
	/* Asks again and again. The greediest network makes room: never the one who asks once. A stranger with as many providers as
	 * there are places is as seldom at each as the person; that is outside of this model, and stands under Limits in recovery.md. */
	:: atomic { !FULL -> stranger_asks++ }
	:: atomic { FULL && stranger_asks > 0 -> skip }
	/* An asking that runs out is asked again at once. */
	:: atomic { stranger_asks > 0 -> stranger_asks-- }
#ifdef NO_ENDORSEMENT
	/* A start that proves nothing takes the one place in the log, and does so again when it has run out. */
	:: atomic { pending == NOTHING -> pending = STRANGERS }
	:: atomic { pending == STRANGERS -> pending = NOTHING }
#endif
	:: atomic { stranger_answers < ROOM -> stranger_answers++ }
	od
}

active proctype person() {
	do
#ifdef NO_EVICTION
	:: atomic { !asked && !FULL -> asked = true }
#else
	:: atomic { !asked ->
		if
		:: FULL -> stranger_asks--
		:: else -> skip
		fi;
		asked = true }
#endif
	/* The start is logged, with the endorsement; the delay runs. */
#ifdef NO_ENDORSEMENT
	:: atomic { asked && pending == NOTHING -> pending = OWN }
#else
	:: atomic { asked && endorsed && pending == NOTHING -> pending = OWN }
#endif
	:: atomic { pending == OWN && answered -> recovered = true; break }
	od
}

active proctype guardians() {
	/* By its number the guardian finds the person's request, if it is the only one that has it. */
	atomic { asked && !same -> endorsed = true };
	atomic { pending == OWN && ROOM_FOR_ANSWER -> answered = true }
}

ltl recovered_in_the_end { <> recovered }
