/* A thief's device replaces the guardians, and tries to recover the identity with its own.
 *
 * Who: a thief with one of the owner's devices and the passphrase, and with the server, who names other guardians as often as it
 * likes, sends guardians packets as often as it likes, and writes any time into a change of guardians; the owner, who notices and
 * goes to the guardians of before; a contact, who pinned the owner before. Time is a counter, and the log's epochs have it; a
 * commitment stays valid for D ticks after the change that put another in its place.
 *
 * P5: within D ticks after the first such change, the owner's own guardians can still bring the identity back: the account
 * still names them, and each still keeps their part. Taken away by -DNO_FORMER, by -DFORGETFUL (the account remembers one former
 * set, the last), and by -DNEWEST_PACKETS (a guardian's device keeps the newest packets, whatever the log names).
 * P7: no contact accepts a request by guardians named since before those D ticks are over. Taken away by -DLAST_AT_ONCE (those
 * who were named last may ask at once) and by -DCLAIMED_CHANGE (the date that the change claims is believed).
 */
#define END 7
#define D 3
#define NEVER 100

/* Their names, for the report of a failure. */
bool P5 = true;
bool P7 = true;

byte now;
/* Guardians: 0 is the set the owner chose. */
byte commitment;       /* the set that the account's state names */
byte former = NEVER;   /* the set before it, while it still counts */
byte changed;          /* when it was changed */
byte robbed = NEVER;   /* when the owner's own guardians were first replaced */
byte claimed;          /* when the change says that it was made */
/* What one of the owner's guardians keeps: the part of set 0, and so many packets that came since. */
bool keeps = true;
byte newer;

/* The thief's device replaces the owner's guardians, as often as it likes. */
active proctype thief() {
	do
	:: atomic { commitment < 4 && now < END ->
#ifndef NO_FORMER
#ifdef FORGETFUL
		/* A second change within the delay puts the set before it in the place of the former one. */
		former = commitment; changed = now; claimed = now;
#else
		/* The former set keeps its delay; a change within it does not push it out. */
		if
		:: former == NEVER || now >= changed + D -> former = commitment; changed = now;
			/* The server takes any date. */
			if
			:: claimed = 0
			:: claimed = now
			fi
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

/* A packet comes for one of the owner's guardians, signed by the device that the thief has. */
active proctype packets() {
	do
	:: atomic { newer < 3 && now < END -> newer++;
#ifdef NEWEST_PACKETS
		if
		:: newer == 3 -> keeps = false
		:: else -> skip
		fi
#else
		/* What the log names is kept beside one packet of another set. */
		if
		:: commitment != 0 && (former != 0 || now >= changed + D) -> keeps = false
		:: else -> newer = 1
		fi
#endif
		}
	:: now == END -> break
	od
}

/* The thief's guardians ask, in an epoch of now, and take over when their own delay is over; a contact looks at it then. */
active proctype contact() {
	do
	:: atomic { commitment > 0 && now < END ->
#ifndef LAST_AT_ONCE
#ifdef CLAIMED_CHANGE
		if
		:: former != NEVER && now < claimed + D -> goto refused
#else
		/* Counted from when the quorum saw the change. */
		if
		:: former != NEVER && now < changed + D -> goto refused
#endif
		:: else -> skip
		fi;
#endif
		assert(!P7 || former == NEVER || now >= changed + D);
refused:	skip }
	:: now == END -> break
	od
}

active proctype owner() {
	do
	:: atomic { robbed != NEVER && now < robbed + D && now < END ->
		assert(!P5 || (keeps && (commitment == 0 || (former == 0 && now < changed + D)))) }
	:: now == END -> break
	od
}

active proctype clock() {
	do
	:: now < END -> now++
	:: else -> break
	od
}
