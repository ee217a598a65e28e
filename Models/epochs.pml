/* Epochs, milestones and those who look, with the server as the adversary.
 *
 * The log is one and grows only (witnesses), so a lie is one that everybody is told: a record of an epoch, with a time, an index and
 * the milestone it names. The server chooses all three, when to make one, and which record it shows to whom, never an earlier one
 * than before. An index shows a person's history with the person's own entries only (clean) or with a key that the person never
 * made (foul). A contact may look at any time and, when shown a foul history, uses the key. The owner's monitor runs by itself.
 *
 * Properties: Q1 a check that completes has seen every day's first record since the one before. Q2 when a foul key was used,
 * then by the end of the second day after, the owner has an alarm, or the contact has evidence, or the server has failed to answer
 * one of them with anything recent, which they notice. Q3 (-DHONEST) an honest server is never suspected.
 *
 * Each rule is on unless it is taken away by -DNO_…, and then an assertion must fail. See README.md.
 */
#ifndef DAYS
#define DAYS 3
#endif
#define DAY 2            /* ticks */
#define BOUND 1          /* how far an epoch's time may be behind the quorum's */
#define END (DAYS * DAY) /* ticks */
#ifndef RECORDS
#define RECORDS 6
#endif
#define NEVER 100

/* Their names, for the report of a failure. */
bool Q1 = true;
bool Q2 = true;
bool Q3 = true;

byte now;
byte count = 1;          /* records made; record 0 is the first of day 0 */
byte time[RECORDS];
byte names[RECORDS];     /* the milestone that it names: the first record of its day, or so it says */
bool foul[RECORDS];      /* what the index shows */

bool alarm;              /* the owner has seen a foul history, or a walk that does not fit */
bool evidence;           /* the contact has two indexes that cannot both be of one history */
bool silent;             /* somebody was shown nothing recent and said so */

#define DAY_OF(record) (time[record] / DAY)
#define IS_FIRST(record) (record == 0 || DAY_OF(record - 1) < DAY_OF(record))
#ifdef NO_EPOCH_BOUND
#define IS_RECENT(record) true
#else
#define IS_RECENT(record) (time[record] + BOUND >= now)
#endif

/* How old an epoch's time may be when it is made. Auditors refuse an older one whoever is shown it. */
#ifdef NO_EPOCH_BOUND
#define OLDEST time[count - 1]
#else
#define OLDEST (time[count - 1] + BOUND >= now -> time[count - 1] : now - BOUND)
#endif

/* Whose turn: the server, then the owner, then the contact, then the clock. Within a turn anything may happen. */
mtype = { serving, owning, visiting };
mtype turn = serving;

inline make(dirt, milestone, when) {
	time[count] = when;
	foul[count] = dirt;
	names[count] = milestone;
	count++
}

active proctype server() {
	byte when, milestone;
	end: do
#ifdef HONEST
	/* An epoch when somebody writes; and a heartbeat, so that there is always a recent one. */
	:: atomic { turn == serving && count < RECORDS && time[count - 1] < now ->
		if
		:: skip -> goto made
#ifdef NO_HEARTBEAT
		:: skip
#else
		:: time[count - 1] + BOUND > now -> skip
#endif
		fi;
		goto done;
	made:	milestone = (now / DAY > DAY_OF(count - 1) -> count : names[count - 1]);
		make(false, milestone, now);
	done:	turn = owning }
	:: atomic { turn == serving && (count == RECORDS || time[count - 1] >= now) -> turn = owning }
#else
	:: atomic { turn == serving && count < RECORDS ->
		select(when : OLDEST .. now);
		/* It names itself, the record before, the very first, or what is true. */
		if
		:: milestone = count
		:: milestone = count - 1
		:: milestone = 0
		:: milestone = (when / DAY > DAY_OF(count - 1) -> count : names[count - 1])
		fi;
		if
		:: make(false, milestone, when)
		:: make(true, milestone, when)
		fi;
		when = 0; milestone = 0;
		turn = owning }
	:: atomic { turn == serving -> turn = owning }
#endif
	od
}

/* The record that somebody is shown: an honest server's last, or any from the last one that was shown before. */
inline pick(record) {
#ifdef HONEST
	record = count - 1
#else
	select(record : known .. count - 1)
#endif
}

/* The walk: from the record shown back to the mark, milestone by milestone. `broken` when it does not fit. */
inline walk(shown, mark, newest, dirt, broken) {
	d_step {
	at = shown; hops = true; newest = mark; dirt = false; broken = false;
	do
	:: hops ->
		next = names[at];
		if
		/* A record is itself the first of its day, or names an earlier one. */
		:: next > at -> broken = true; hops = false
#ifndef NO_EXACT_END
		/* The last link: it names the mark, and is of the mark's day. */
		:: next <= at && next == mark ->
			broken = (DAY_OF(at) != DAY_OF(mark)); hops = false
		:: next <= at && next < mark -> broken = true; hops = false
#else
		:: next <= mark -> hops = false
#endif
		:: next <= at && next > mark ->
#ifndef NO_FIRST_OF_DAY
			/* A milestone comes with the record before it, which is of an earlier day; whoever names it is of its day. */
			if
			:: DAY_OF(at) != DAY_OF(next) || !IS_FIRST(next) -> broken = true; hops = false
			:: else -> skip
			fi;
#endif
			dirt = dirt || foul[next];
			newest = (newest < next -> next : newest);
			at = next - 1
		fi
	:: else -> break
	od;
	at = 0; next = 0
	}
}

/* The owner's monitor: once a day, with whatever command comes. The command itself talks to the server about other things. */
active proctype owner() {
	byte mark, known, shown, checked, newest, day, at, next;
	bool dirt, broken, hops;
	end: do
	:: atomic { turn == owning ->
		if
#ifdef NO_LOCAL_CLOCK
		/* Due when a day has begun in the log, as far as the last check knew. */
		:: DAY_OF(known) > DAY_OF(mark) ->
#else
		:: now / DAY > checked / DAY ->
#endif
			checked = now;
			pick(shown);
			known = shown;
			if
			:: !IS_RECENT(shown) -> silent = true
			:: else ->
				walk(shown, mark, newest, dirt, broken);
				alarm = alarm || dirt || broken || foul[shown];
				/* Q1 */
				d_step {
				if
				:: !alarm ->
					day = mark + 1;
					do
					:: day <= shown -> assert(!Q1 || !(IS_FIRST(day) && foul[day])); day++
					:: else -> break
					od
				:: else -> skip
				fi;
				mark = newest
				}
			fi
		:: else -> skip
		fi;
		/* Nothing of this is kept: fewer states. */
		shown = 0; newest = 0; day = 0; dirt = false; broken = false;
		turn = visiting }
	od
}

/* A contact: looks once, perhaps; uses what is shown; looks once more after the next milestone, with the walk between. */
active proctype contact() {
	byte shown, used = NEVER, again, mark, known, at;
	bool done;
	end: do
	:: atomic { turn == visiting ->
		if
#ifndef NO_CONTACT_LOOK
		/* Due, with whatever command comes that day. */
		:: used != NEVER && !done && now / DAY > used / DAY -> goto look
#endif
		:: used == NEVER && now < END - 2 * DAY -> goto visit
		:: else -> goto turned
		fi;
	visit:
		if
		:: skip
		:: pick(shown);
			known = shown;
			if
			:: !IS_RECENT(shown) -> silent = true
			:: IS_RECENT(shown) && foul[shown] -> used = now; mark = shown
			:: else -> skip
			fi
		fi;
		shown = 0;
		goto turned;
	look:
		pick(again);
		known = again;
		if
		:: !IS_RECENT(again) -> silent = true
		:: IS_RECENT(again) && DAY_OF(again) > DAY_OF(mark) ->
			done = true;
#ifndef NO_WALK_BETWEEN
			/* Down to the first record of a later day than the one that was seen: all of them must show the foul key still. */
			d_step {
			at = again;
			do
			:: names[at] > at || names[at] <= mark -> break
			:: else ->
				evidence = evidence || !foul[names[at]] || DAY_OF(at) != DAY_OF(names[at]) || !IS_FIRST(names[at]);
				at = names[at] - 1
			od;
			evidence = evidence || names[at] > at || DAY_OF(at) != DAY_OF(mark) && names[at] > mark
			};
#endif
			evidence = evidence || !foul[again]
		:: else -> skip
		fi;
		again = 0; at = 0;
	turned:
#ifdef HONEST
		/* Q3 */
		assert(!Q3 || !(alarm || evidence || silent));
#endif
		/* Q2 */
		assert(!Q2 || used == NEVER || now < (used / DAY + 3) * DAY - 1 || alarm || evidence || silent);
		turn = serving;
		if
		/* Once noticed, whatever else happens is no matter: fewer states. */
		:: now < END && !(alarm || evidence || silent) -> now++
		:: else -> goto stop
		fi }
	od;
stop:	skip
}
