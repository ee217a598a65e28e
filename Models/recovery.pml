/* A recovery, with the server as the adversary.
 *
 * Who: an owner who watches, three guardians of whom any two suffice, a thief who holds a device of the owner's and one
 * guardian (-DBAD=2: two), and a server that works with the thief: it decides what the log takes and when, how its epochs are
 * dated, what its index shows, which checkpoint a guardian gets and whether a stop is logged. A contact looks from time to
 * time. Witnesses are honest: what is logged stays, in order, and a checkpoint's quorum time is the true time.
 *
 * An epoch's time is the server's word: it can log two in one go, and date the first one back or the second one ahead. Bounded is
 * only the epoch in which the log ends when somebody looks, to SLACK behind the quorum's time. So contacts count the delay D from
 * the checkpoint in which the quorum saw the start to the last one in which it saw no takeover (P1), and what their last look
 * tells them is up to SLACK old: P4 promises D - SLACK, would say nothing with SLACK = D, and -DWHOLE_DELAY shows that more
 * cannot be promised. In the program 900 seconds come off for clocks.
 *
 * Time is a counter; the recovery's delay is D ticks. Properties are the assertions, marked P1 to P4; each rule is on unless it is
 * taken away by a switch of the compiler, and then an assertion must fail. See README.md.
 */
#ifndef END
#define END 5 /* the last tick */
#endif
#ifndef D
#define D 2 /* the delay of a recovery, in ticks */
#endif
#ifndef BAD
#define BAD 1 /* guardians of the thief's; the threshold is 2 of 3 */
#endif
#ifndef SLACK
#define SLACK 1 /* how far an epoch's time may be behind the quorum's time */
#endif
#if SLACK >= D
#error "a delay that is no longer than the slack is none: P4 would hold whatever happens"
#endif
#define NEVER 100

/* What P4 leaves to the dates of epochs. Nobody can promise more than the delay less the slack: */
#ifdef WHOLE_DELAY
#define LEFT 0
#else
#define LEFT SLACK
#endif

/* Their names, for the report of a failure. */
bool P1 = true;
bool P2 = true;
bool P3 = true;
bool P4 = true;

byte now;

/* What the log holds of the thief's attempt. All times are NEVER while it has not happened. */
byte started = NEVER;  /* true time at which the start entered the log */
byte started_epoch;    /* time that the first epoch covering it names */
byte started_claim;    /* time that the start itself names */
byte shown = NEVER;    /* true time from which the index shows the start */
byte stopped = NEVER;  /* true time at which the owner's stop entered the log */
byte taken = NEVER;    /* true time at which the takeover entered the log */
byte last_epoch;       /* the latest epoch's time; epochs do not run back */

/* The owner. */
bool objects;          /* has signed a stop */
bool letter;           /* it has reached the guardians on another way than the server */
byte objected = NEVER;

/* One honest guardian's view; the other honest ones fare like this one. */
byte seen = NEVER;     /* own clock when the start was first seen in the log */
byte released = NEVER; /* true time at which a part left an honest guardian */

/* A contact. */
byte looked;           /* true time of the last look that showed no request */
byte looked_epoch;     /* time that the log's last epoch named then */
byte accepted = NEVER;

/* From when a guardian counts the delay on the own clock, and from when it wants the checkpoint to be later by it. */
#ifdef NO_OWN_CLOCK
#define WAITS_FROM started_claim
#define FRESH_FROM started_claim
#elif defined(CLAIMED_NOT_BEFORE)
#define WAITS_FROM seen
#define FRESH_FROM started_claim
#else
#define WAITS_FROM seen
#define FRESH_FROM seen
#endif

#ifdef NO_FRESH_RELEASE
#define FRESH true
#else
#define FRESH (checkpoint >= FRESH_FROM + D)
#endif
#ifdef NO_LETTER
#define NO_STOP_KNOWN (!(stopped != NEVER && stopped <= checkpoint))
#else
#define NO_STOP_KNOWN (!(stopped != NEVER && stopped <= checkpoint) && !letter)
#endif
#define MAY_RELEASE (seen != NEVER && now >= WAITS_FROM + D && FRESH && NO_STOP_KNOWN)

/* When a contact accepts a takeover that it is shown. */
#ifdef NO_COVERING_EPOCHS
#define SEEN_TIME started_claim
#elif defined(NO_SEEN_CHECKPOINT)
#define SEEN_TIME started_epoch
#else
#define SEEN_TIME started
#endif
#ifdef NO_LAST_LOOK
#define LATER_THAN_LAST_LOOK true
#else
#define LATER_THAN_LAST_LOOK (started >= looked_epoch) /* by the quorum's time of a log without the start */
#endif
#ifdef NO_ABSENT_CHECKPOINT
#define ABSENT_TIME END /* what the takeover's epoch claims, as late as can be */
#else
#define ABSENT_TIME taken
#endif
#define ACCEPTABLE (taken != NEVER && ABSENT_TIME >= SEEN_TIME + D && LATER_THAN_LAST_LOOK)
/* A client refuses a log whose last epoch is further behind the quorum's time than the slack. */
#ifdef NO_EPOCH_BOUND
#define IN_TIME true
#else
#define IN_TIME (last_epoch + SLACK >= now)
#endif

#define PARTS (BAD + (released != NEVER -> 1 : 0))
#define LOGGED (started != NEVER)

/* An epoch's time: any that does not run back. */
inline date(result) {
	select(result : last_epoch .. now);
	last_epoch = result
}

/* The server, and the thief with the guardians on that side. */
active proctype server() {
	byte time;
	do
	/* Logs a start. It needs the ask key's endorsement, which a bad guardian gives and a stranger has not. */
	:: atomic { !LOGGED ->
		/* The start names the true time, or one as old as can be. */
		if
		:: started_claim = now
		:: started_claim = 0
		fi;
		started = now; date(time); started_epoch = time; time = 0;
		if
		:: shown = now                  /* the index shows it at once */
		:: skip                         /* or leaves it out for a while */
		fi }
	:: atomic { LOGGED && shown == NEVER -> shown = now }
	/* Logs the takeover, with parts enough. Honest software in between has a say only in the parts. */
	:: atomic { LOGGED && shown != NEVER && taken == NEVER && PARTS >= 2 ->
		taken = now }
	/* Makes epochs with nothing in them, to date the next ones. */
	:: atomic { last_epoch < now -> date(time); time = 0 }
	/* Logs the owner's stop, or does not. */
	:: atomic { objects && stopped == NEVER -> stopped = now }
	:: now == END -> break
	od
}

/* Honest guardians who were talked into confirming: they look at whatever checkpoint the server shows, and release when
 * their rules say so. */
active proctype guardian() {
	byte newer;
	byte checkpoint; /* its true and its quorum time: what the server shows now, never before one already seen */
	do
	:: atomic { released == NEVER && now < END ->
		/* The server shows any checkpoint from the last one seen up to now. */
		select(newer : checkpoint .. now);
		checkpoint = newer; newer = 0;
		if
		:: seen == NEVER && shown != NEVER && shown <= checkpoint -> seen = now
		:: else -> skip
		fi;
		if
		:: MAY_RELEASE ->
			released = now;
			/* P2: a part never leaves before the log has held the start for the delay. */
			assert(!P2 || now >= started + D);
			/* P3: nor after a stop that was made in time and got through on either way. */
			assert(!P3 || !(letter && objected < started + D));
			assert(!P3 || !(stopped != NEVER && stopped < now && stopped < seen + D))
		:: else -> skip
		fi }
	:: now == END || released != NEVER -> break
	od
}

/* A contact looks, and takes over what it accepts. */
active proctype contact() {
	do
	:: atomic { accepted == NEVER && now < END ->
		if
		:: taken == NEVER && shown == NEVER && IN_TIME -> /* nothing to see */
			looked = now;
			looked_epoch = last_epoch
		:: ACCEPTABLE ->
			accepted = now;
			/* P1: the log held the start for the whole delay. */
			assert(!P1 || taken >= started + D);
			/* P4: and so long passes between this contact's last look that showed nothing and the takeover. */
			assert(!P4 || taken + LEFT >= looked + D)
		:: else -> skip
		fi }
	:: now == END || accepted != NEVER -> break
	od
}

/* The owner watches, and objects within the delay. The server may drop the stop, the letters go another way. */
active proctype owner() {
	do
	:: atomic { !objects && shown != NEVER && now < END -> objects = true; objected = now }
	:: atomic { objects && !letter && now < END -> letter = true }
	:: now == END -> break
	od
}

active proctype clock() {
	do
	:: now < END -> now++
	:: else -> break
	od
}
