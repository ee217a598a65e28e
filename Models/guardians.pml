/* A thief's device replaces the guardians, and tries to recover the identity with its own.
 *
 * Who: a thief with one of the owner's devices and the passphrase, who names other guardians as often as the account's rules let
 * it and sends guardians packets as often as it likes; with -DSERVER also whoever holds the server, so that a change of guardians
 * can claim any time; the owner, who notices and goes to the guardians of before; a contact, who pinned the owner before. Time is a
 * counter. A commitment stays valid for D ticks after the change that put another in its place, by the time that the change claims:
 * the account's rules know no other.
 *
 * P5, without the server: within D ticks after the first such change, the owner's own guardians can still bring the identity back:
 * the account still names them, and each still keeps their part. Taken away by -DNO_FORMER, by -DFORGETFUL (the account remembers
 * one former set, the last), and by -DNEWEST_PACKETS (a guardian's device keeps the newest packets, whatever the log names). With
 * the server it does not hold (-DSERVER -DASK_P5): the change is dated back.
 * P7: no contact accepts a request by guardians named since before those D ticks are over. Taken away by -DLAST_AT_ONCE (those
 * who were named last may ask at once) and, with the server, by -DCLAIMED_CHANGE (the date that the change claims is believed).
 * P8: nor if the owner's own guardians were out before they had D ticks. Taken away, with the server, by -DLAST_CHANGE_ONLY (the
 * contact asks only how old the last change is).
 */
#define END 7
#define D 3
#define NEVER 100

/* Their names, for the report of a failure. */
#if !defined(SERVER) || defined(ASK_P5)
bool P5 = true;
#endif
bool P7 = true;
bool P8 = true;

byte now;
/* Guardians: 0 is the set the owner chose. */
byte commitment;       /* the set that the account's state names */
byte former = NEVER;   /* the set before it, while it still counts */
byte changed;          /* when it was changed */
byte robbed = NEVER;   /* when the owner's own guardians were first replaced */
bool datesBack;        /* whether the change says that it was made long ago */
byte out = NEVER;      /* when the account no longer named the owner's own guardians */
bool hurried;          /* whether the quorum saw two changes within D ticks */
#ifdef CLAIMED_CHANGE
#define WAITED (datesBack || now >= changed + D)
#else
/* Counted from when the quorum saw the change. */
#define WAITED (now >= changed + D)
#endif
/* By the account's own rules. */
#define EXPIRED (datesBack || now >= changed + D)
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
		if
		:: former == 0 -> out = now
		:: else -> skip
		fi;
		former = commitment; changed = now;
#else
		/* The former set keeps its delay; a change within it is refused. */
		if
		:: former == NEVER || EXPIRED ->
			if
			:: former == 0 -> out = now
			:: else -> skip
			fi;
			hurried = hurried || (former != NEVER && now < changed + D);
			former = commitment; changed = now;
#ifdef SERVER
			/* The server takes any date. */
			if
			:: datesBack = true
			:: datesBack = false
			fi
#endif
		:: else -> goto refused
		fi;
#endif
#endif
		if
		:: commitment == 0 -> robbed = now
		:: else -> skip
		fi;
		commitment++;
refused:	skip }
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
		:: commitment != 0 && (former != 0 || EXPIRED) -> keeps = false
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
		if
		:: former != NEVER && !WAITED -> goto refused
		:: else -> skip
		fi;
#endif
#if !defined(LAST_CHANGE_ONLY) && !defined(LAST_AT_ONCE)
		if
		:: hurried -> goto refused
		:: else -> skip
		fi;
#endif
		assert(!P7 || former == NEVER || now >= changed + D);
		assert(!P8 || out == NEVER || out >= robbed + D);
refused:	skip }
	:: now == END -> break
	od
}

active proctype owner() {
	do
	:: atomic { robbed != NEVER && now < robbed + D && now < END ->
#if !defined(SERVER) || defined(ASK_P5)
		assert(!P5 || (keeps && (commitment == 0 || (former == 0 && !EXPIRED))))
#else
		skip
#endif
		}
	:: now == END -> break
	od
}

active proctype clock() {
	do
	:: now < END -> now++
	:: else -> break
	od
}
