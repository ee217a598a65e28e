/* Servers that may lead one log, on a database that fails over.
 *
 * Who: two candidates that run the same program, of which either may be slow at any step for as long as it likes or crash, and after a crash
 * begins again; a primary database and the standby to which it sends its rows; an object store that holds the note signed last
 * (the second memory). Commits are acknowledged when the standby has them. The standby may be promoted at any time; the old primary
 * may run on, and may restart, and then shows what it never sent. Leases do not occur: any candidate may try at any moment.
 *
 * A frame is named by the generation and the candidate that made it; a log is the frames in order, one an epoch, so that two logs are
 * the same if their names are. Properties are the assertions, F1 to F5; each rule is on unless it is taken away by a switch of the
 * compiler, and then an assertion must fail. See README.md. `Tests/LogFencingTests` explores the program itself in a like world.
 */
#ifndef EPOCHS
#define EPOCHS 3 /* frames of the log */
#endif
#ifndef CLAIMS
#define CLAIMS 3 /* generations */
#endif
#ifndef CRASHES
#define CRASHES 1
#endif
#ifndef UNKNOWN
#define UNKNOWN 1 /* answers of the database that are lost */
#endif
#define NONE 255

/* A log: its size, and the names of its frames. */
typedef Log {
	byte size;
	byte frame[4]
}
/* The row of a database, with the frames. */
typedef Row {
	byte generation;
	byte published;
	Log log
}

Row primary;       /* what is on the primary's disk */
Row standby;
bool unsent;       /* the standby lacks what the primary wrote last */
bool locked;       /* and its writer waits */
byte waiter = NONE;
bool promoted;
bool restarted;
byte crashes;
byte unknown;

Log memory;        /* the second memory */
Log noteLeft;        /* the largest log whose note left a process */
Log acked;         /* the largest log that a quorum has acknowledged */
byte claimed;      /* the newest generation whose claim was acknowledged */
byte answer[2];    /* of the database to each candidate */
#define WAITING 0
#define YES 1
#define NO 2
#define LOST 3

/* Their names, for the report of a failure. */
bool F1 = true;    /* two roots of one size never leave */
bool F2 = true;    /* the second memory never holds less than before */
bool F3 = true;    /* nothing is signed that no quorum has acknowledged */
bool F4 = true;    /* no generation commits after a later one was claimed, and nothing but the next frame */
bool F5 = true;    /* nobody stops for good while nothing is lost */

byte place;        /* always 0 between steps */
bool same;

/* Whether log `a` begins log `b`. */
inline begins(a, b) {
	same = (a.size <= b.size);
	do
	:: place < a.size && same -> same = (a.frame[place] == b.frame[place]); place++
	:: else -> break
	od;
	place = 0
}
inline copy(from, into) {
	into.size = from.size;
	do
	:: place < EPOCHS -> into.frame[place] = from.frame[place]; place++
	:: else -> break
	od;
	place = 0
}
inline copyRow(from, into) {
	into.generation = from.generation; into.published = from.published;
	copy(from.log, into.log)
}

/* A quorum has acknowledged what row `r` says, and with it everything before. */
inline acknowledge(r, isFrame, by) {
	assert(!F4 || !isFrame || by >= claimed);
	begins(acked, r.log);
	assert(!F4 || same);
	same = false;
	copy(r.log, acked);
	if
	:: r.generation > claimed -> claimed = r.generation
	:: else -> skip
	fi
}

byte pending;      /* what the primary's writer waits for: */
#define CLAIM 1
#define FRAME 2
#define SHOW 3
byte writer;       /* and the generation it wrote in */

active proctype database() {
end_rest:
	do
	/* The standby takes what was sent; who waits hears it. */
	:: atomic { unsent && !promoted ->
		copyRow(primary, standby); unsent = false;
		if
		:: locked ->
			acknowledge(primary, (pending == FRAME), writer);
			locked = false;
			if
			:: waiter != NONE -> answer[waiter] = YES; waiter = NONE
			:: else -> skip
			fi
		:: else -> skip
		fi;
		pending = 0; writer = 0 }
	:: atomic { !promoted -> promoted = true }
	/* The primary restarts: who waited does not know, and everybody sees what it has written. */
	:: atomic { !restarted -> restarted = true; locked = false; pending = 0; writer = 0;
		if
		:: waiter != NONE -> answer[waiter] = LOST; waiter = NONE
		:: else -> skip
		fi }
	/* A wait is cut short, or an answer is lost. */
	:: atomic { unknown < UNKNOWN && locked && waiter != NONE -> unknown++;
		answer[waiter] = LOST; waiter = NONE;
		if
		:: locked = false /* cancelled: the row shows */
		:: skip           /* the server still waits */
		fi }
	od
}

/* Whether a statement may be executed: the row is not locked, and this is a primary. */
#define FREE ((onStandby && promoted) || (!onStandby && !locked && !unsent))

/* The statement has changed a row. The promoted standby has one of its own, which answers at once. */
inline written(kind) {
	if
	:: onStandby -> acknowledge(standby, (kind == FRAME), generation); answer[me] = YES
	:: else -> unsent = true; locked = true; waiter = me; pending = kind; writer = generation
	fi
}

proctype candidate(byte me) {
	byte generation;
	byte known;      /* size of the memory as last read or written */
	byte step;       /* of the head being shown: */
	byte shown;      /* its size */
	byte asked;      /* which statement is under way */
	bool onStandby;
	bool leads;
	Log log;         /* the own tree */
	byte committed;  /* how much of it is acknowledged */
begin:
	atomic { generation = 0; known = 0; step = 0; shown = 0; asked = 0; leads = false; committed = 0; log.size = 0;
		log.frame[0] = 0; log.frame[1] = 0; log.frame[2] = 0; answer[me] = WAITING;
		if
		:: onStandby = false
		:: promoted -> onStandby = true
		fi }
	/* The claim. Only what it leaves is believed. */
#ifdef BELIEVED_EARLY
end_read:
	atomic { onStandby || !locked ->
		if
		:: onStandby -> generation = standby.generation; copy(standby.log, log)
		:: else -> generation = primary.generation; copy(primary.log, log)
		fi;
		committed = log.size }
#else
end_claim:
	if
	:: atomic { FREE && !onStandby && primary.generation < CLAIMS ->
		primary.generation++; generation = primary.generation; copy(primary.log, log); written(CLAIM) }
	:: atomic { FREE && onStandby && standby.generation < CLAIMS ->
		standby.generation++; generation = standby.generation; copy(standby.log, log); written(CLAIM) }
	fi;
end_wait:
	if
	:: atomic { answer[me] == YES -> answer[me] = WAITING; committed = log.size }
	:: atomic { answer[me] == LOST -> goto begin }
	:: atomic { crashes < CRASHES -> crashes++; goto crash }
	fi;
#endif
	/* What was signed must be in it. */
	atomic {
		known = memory.size;
		begins(memory, log);
		if
		:: same -> same = false
		:: !same && known > log.size ->
#ifndef NOT_CONFIRMED
			/* Late, or behind? The own generation, still standing, says so. */
			if
			:: (onStandby && standby.generation != generation) || (!onStandby && primary.generation != generation) -> goto begin
			:: else -> skip
			fi;
#endif
			/* Is anything lost in the database of the claim? */
			if
			:: onStandby -> begins(acked, standby.log)
			:: else -> begins(acked, primary.log)
			fi;
			assert(!F5 || !same); same = false; goto halt
		:: else -> goto halt
		fi;
		shown = committed; step = 1; leads = true }
end_lead:
	do
	/* Makes a frame and sends it. */
	:: atomic { asked == 0 && log.size < EPOCHS && answer[me] == WAITING && FREE ->
		log.frame[log.size] = 1 + 2 * generation + me; log.size++;
#ifdef SIGNED_EARLY
		begins(noteLeft, log);
		assert(!F1 || same || log.size < noteLeft.size);
		copy(log, noteLeft);
#endif
		if
#ifdef GENERATION_IGNORED
		:: onStandby && standby.log.size + 1 == log.size ->
#else
		:: onStandby && standby.generation == generation && standby.log.size + 1 == log.size ->
#endif
			copy(log, standby.log); asked = FRAME; written(FRAME)
#ifdef GENERATION_IGNORED
		:: !onStandby && primary.log.size + 1 == log.size ->
#else
		:: !onStandby && primary.generation == generation && primary.log.size + 1 == log.size ->
#endif
			copy(log, primary.log); asked = FRAME; written(FRAME)
		:: else -> goto begin
		fi }
	:: atomic { asked == FRAME && answer[me] == YES -> answer[me] = WAITING; asked = 0; committed = log.size;
		if
		:: step == 0 -> step = 1; shown = committed
		:: else -> skip
		fi }
	:: atomic { asked != 0 && answer[me] == LOST ->
#ifdef UNKNOWN_IS_READ
		/* The row has it, so it is taken for committed. */
		if
		:: asked == FRAME && !onStandby && primary.log.size == log.size && primary.log.frame[log.size - 1] == log.frame[log.size - 1] && !locked ->
			answer[me] = WAITING; asked = 0; committed = log.size;
			if
			:: step == 0 -> step = 1; shown = committed
			:: else -> skip
			fi
		:: else -> goto begin
		fi
#else
		goto begin
#endif
		}
	/* Signs a head, and puts it down outside of the database. */
	:: atomic { step == 1 ->
		begins(acked, log);
		assert(!F3 || shown <= acked.size);
		place = shown; same = (shown == 0 || log.frame[place - 1] == acked.frame[place - 1]); place = 0;
		assert(!F3 || same); same = false;
#ifdef PLAIN_PUT
		if
#else
		if
		:: memory.size != known && memory.size > shown -> goto begin
		:: memory.size != known && memory.size <= shown -> known = memory.size
		:: memory.size == known ->
#endif
#ifdef PLAIN_PUT
		:: true ->
#endif
			assert(!F2 || memory.size <= shown);
			memory.size = shown;
			do
			:: place < shown -> memory.frame[place] = log.frame[place]; place++
			:: else -> break
			od;
			place = 0; known = shown; step = 2
		fi }
	/* The note leaves. */
	:: atomic { step == 2 ->
		if
		:: shown > 0 -> place = (shown < noteLeft.size -> shown : noteLeft.size);
			same = (place == 0 || noteLeft.frame[place - 1] == log.frame[place - 1]); place = 0;
			assert(!F1 || same); same = false;
			if
			:: shown > noteLeft.size -> noteLeft.size = shown;
				do
				:: place < shown -> noteLeft.frame[place] = log.frame[place]; place++
				:: else -> break
				od;
				place = 0
			:: else -> skip
			fi
		:: else -> skip
		fi;
		step = 3 }
	/* Says in the database that it may be shown. */
	:: atomic { step == 3 && asked == 0 && answer[me] == WAITING && FREE ->
		if
		:: onStandby && standby.generation == generation && standby.published <= shown ->
			standby.published = shown; asked = SHOW; written(SHOW)
		:: !onStandby && primary.generation == generation && primary.published <= shown ->
			primary.published = shown; asked = SHOW; written(SHOW)
		:: else -> goto begin
		fi }
	:: atomic { asked == SHOW && answer[me] == YES -> answer[me] = WAITING; asked = 0;
		if
		:: shown < committed -> step = 1; shown = committed
		:: else -> step = 0
		fi }
	:: atomic { crashes < CRASHES -> crashes++; goto crash }
	od;
crash:
	/* What waits in the database waits on, and nobody hears of it. */
	atomic { if
		:: waiter == me -> waiter = NONE
		:: else -> skip
		fi;
		goto begin }
halt:	skip
}

init { atomic { run candidate(0); run candidate(1) } }
