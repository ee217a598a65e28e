/* A thief's device replaces the guardians.
 *
 * Who: a thief with one of the owner's devices and the passphrase, who names other guardians as often as it likes; the owner, who
 * notices and goes to the guardians of before. Time is a counter; a commitment stays valid for D ticks after the change that
 * put another in its place. Property P5: within D ticks after the first such change, the owner's own guardians can still bring the
 * identity back. Taken away by -DNO_FORMER, and by -DFORGETFUL: the account remembers one former set, the last.
 */
#define END 7
#define D 3
#define NEVER 100

/* Their names, for the report of a failure. */
bool P5 = true;

byte now;
/* Guardians: 0 is the set the owner chose. */
byte commitment;       /* the set that the account's state names */
byte former = NEVER;   /* the set before it, while it still counts */
byte changed;          /* when it was changed */
byte robbed = NEVER;   /* when the owner's own guardians were first replaced */

/* The thief's device replaces the owner's guardians, as often as it likes. */
active proctype thief() {
	do
	:: atomic { commitment < 4 && now < END ->
#ifndef NO_FORMER
#ifdef FORGETFUL
		/* A second change within the delay puts the set before it in the place of the former one. */
		former = commitment; changed = now;
#else
		/* The former set keeps its delay; a change within it does not push it out. */
		if
		:: former == NEVER || now >= changed + D -> former = commitment; changed = now
		:: else -> skip
		fi;
#endif
#endif
		if
		:: commitment == 0 -> robbed = now
		:: else -> skip
		fi;
		commitment++ }
	:: now == END -> break
	od
}

active proctype owner() {
	do
	:: atomic { robbed != NEVER && now < robbed + D && now < END ->
		assert(!P5 || commitment == 0 || (former == 0 && now < changed + D)) }
	:: now == END -> break
	od
}

active proctype clock() {
	do
	:: now < END -> now++
	:: else -> break
	od
}
