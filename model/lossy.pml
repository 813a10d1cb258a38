/*
 * The worker protocol on a store that may lose what it has confirmed: it is wiped, or goes back to any earlier state, LOSSES times, at any moment.
 * Its incarnation (start, identity) changes with the loss. One worker ID.
 *
 * True time `now` runs from 0 to TIME_MAX. Each reading of a clock, anyone's, lies in now .. now + SPREAD, chosen again each time: SPREAD is the
 * full distance between two clocks, 2e where each is within e of true time. Timestamps may lead a reading by at most LEAD.
 *
 * Crash between any two steps, lost answers, restarts that take their own record back at once, release, resume of process 0. A write and its
 * answer are one step: an answer that comes later only leaves less time to its holder. Late writes by -DLATE_WRITES=1, claims of the past by
 * -DPAST=1.
 *
 * One timestamp, `watched`, is chosen at the start, any of all. It must not be issued twice.
 * model/README.md says how to run it, what has been exhausted, and what is left to argument. Each MUTANT_ removes one rule of docs/safety.md.
 */
#ifndef PROCESSES
#define PROCESSES 2      /* 2 or 3 */
#endif
#ifndef GRANTS           /* acquires in all */
#define GRANTS 2
#endif
#ifndef TIME_MAX
#define TIME_MAX 4
#endif
#ifndef WINDOW
#define WINDOW 2
#endif
#ifndef LEAD
#define LEAD 0
#endif
#ifndef SPREAD
#define SPREAD 1
#endif
#ifndef LOSSES           /* losses of data; two may fall into one window */
#define LOSSES 1
#endif
#ifndef RESUMERS         /* processes 0 .. RESUMERS-1 keep a resume record */
#define RESUMERS 0
#endif
#ifndef LATE_WRITES
#define LATE_WRITES 0
#endif
#ifndef PAST             /* claims of the past in all */
#define PAST 0
#endif

#define MAX(a, b) ((a) > (b) -> (a) : (b))
#define me _pid
#define UNSEEN 255

#ifdef MUTANT_SHORT_QUARANTINE /* one tick less than what a clock, a lead and a window can add up to */
#define QUARANTINE (WINDOW + LEAD + SPREAD - 1)
#else
#define QUARANTINE (WINDOW + LEAD + SPREAD)
#endif
#ifdef MUTANT_NO_QUARANTINE
#define FLOOR 0
#else
#define FLOOR (incarnation > 0 -> firstSeen + QUARANTINE : 0)
#endif
#if defined(MUTANT_TAKEN_AT_MARK)      /* taken over when one clock has reached the mark; another clock may be behind */
#define IS_FREE(c) (token == 0 || c >= hwm)
#elif defined(MUTANT_TAKEN_ANY_TIME)   /* taken over by a TTL that ends before the window */
#define IS_FREE(c) true
#else
#define IS_FREE(c) (token == 0 || c >= hwm + SPREAD)
#endif
#ifdef MUTANT_LAPSED_SENDS             /* a lapsed holder renews */
#define ALIVE_AT_SENDING(c) true
#else
#define ALIVE_AT_SENDING(c) (c < hi[me])
#endif
#if defined(MUTANT_LAPSED_SENDS) || defined(MUTANT_LAPSED_RECEIVES) /* lapse is not looked at when the answer comes */
#define ALIVE_AT_ANSWER(c) true
#else
#define ALIVE_AT_ANSWER(c) (c < hi[me])
#endif
#ifdef MUTANT_INCARNATION_BEFORE_WRITE /* the incarnation is read before the write, and not again */
#define SAME_INCARNATION true
#else
#define SAME_INCARNATION (seenIncarnation[me] == incarnation)
#endif
#ifdef MUTANT_FAR_WINDOW               /* a window may begin far ahead of the clock */
#define NEAR(t, c) true
#else
#define NEAR(t, c) (t <= c + LEAD)
#endif
#ifdef MUTANT_RESUMED_RENEWS           /* a resumed grant renews under another incarnation; and, beside it, the next rule goes too */
#define MAY_RENEW true
#define MAY_ISSUE(c) (recToken[me] != held[me] || c < recMark[me])
#else
#define MAY_RENEW (!resumed[me] || grantIncarnation[me] == incarnation)
#define MAY_ISSUE(c) (recToken[me] == 0 || (recToken[me] == held[me] && c < recMark[me]))
#endif
#ifdef MUTANT_COUNTERS                 /* token and writeId are one counter that stands in the record, without random bits */
#define NEW_ID(x) counter = counter + 1; x = counter
#define IS_OURS (token == held[me])
#else
#define NEW_ID(x) fresh = 1; do :: STANDS(fresh) -> fresh++ :: else -> break od; x = fresh; fresh = 0
#define IS_OURS (writeId == confirmed[me] || (open[me] != 0 && writeId == open[me]))
#endif

byte now, incarnation, firstSeen = UNSEEN;      /* firstSeen stands beside the records: when this incarnation was first met */
byte token, writeId, hwm, counter;              /* the record */
byte oldToken, oldId, oldHwm, oldCounter;       /* an earlier state of it: a backup, a lagging replica; at first the empty store */
bool backedUp;
byte grants, fresh;
byte held[PROCESSES], next[PROCESSES], hi[PROCESSES], confirmed[PROCESSES], open[PROCESSES], grantIncarnation[PROCESSES];
bool resumed[PROCESSES];
byte recToken[PROCESSES], recHi[PROCESSES], recMark[PROCESSES], recConfirmed[PROCESSES], recOpen[PROCESSES], recIncarnation[PROCESSES];
byte kind[PROCESSES], expected[PROCESSES], id[PROCESSES], mark[PROCESSES], from[PROCESSES], seenIncarnation[PROCESSES];
bool lateWrite; byte lateExpected, lateToken, lateId, lateHwm;
byte watched; bool issued, ready;
#if PAST
byte claims, pastFrom, pastUntil, pastExpected, pastId, pastIncarnation; /* of the claim that is under way */
#define PAST_STANDS(x) || pastExpected == x || pastId == x
#else
#define PAST_STANDS(x)
#endif

/* Fresh random bits: a number that stands nowhere, in no memory, request, disk or backup. The smallest, so that states meet again. */
#define IN(i, x) (held[i] == x || confirmed[i] == x || open[i] == x || recToken[i] == x || recConfirmed[i] == x || recOpen[i] == x \
	|| expected[i] == x || id[i] == x)
#define STANDS(x) (token == x || writeId == x || oldToken == x || oldId == x || lateExpected == x || lateToken == x || lateId == x \
	|| IN(0, x) || IN(1, x) || IN(PROCESSES - 1, x) PAST_STANDS(x))

inline readClock(c_) { select(c_ : 0 .. SPREAD); c_ = c_ + now }
inline forgetGrant(i_) {
	held[i_] = 0; next[i_] = 0; hi[i_] = 0; confirmed[i_] = 0; open[i_] = 0; grantIncarnation[i_] = 0; resumed[i_] = 0
}
inline forgetRequest() { kind[me] = 0; expected[me] = 0; id[me] = 0; mark[me] = 0; from[me] = 0; seenIncarnation[me] = 0 }
inline deleteRecord(i_) {
	recToken[i_] = 0; recHi[i_] = 0; recMark[i_] = 0; recConfirmed[i_] = 0; recOpen[i_] = 0; recIncarnation[i_] = 0
}
inline write(token_, id_, hwm_) { token = token_; writeId = id_; hwm = hwm_ }
/* The write is not answered: it was applied, is under way still, or is lost. */
inline unanswered(expected_, token_, id_, hwm_) {
	if
	:: writeId == expected_ -> write(token_, id_, hwm_)
	:: LATE_WRITES && !lateWrite -> lateWrite = 1; lateExpected = expected_; lateToken = token_; lateId = id_; lateHwm = hwm_
	:: true
	fi
}

active [PROCESSES] proctype Process() {
	byte c;
	ready;
end:
	do
	/* ACQUIRE */
	:: atomic { kind[me] == 0 && held[me] == 0 && grants < GRANTS && (me == 0 || grants > 0) -> readClock(c);
		if :: firstSeen == UNSEEN -> firstSeen = c :: else fi;
		from[me] = MAX(MAX(hwm, c), FLOOR);
		if
		:: (IS_FREE(c) || (recToken[me] != 0 && recToken[me] == token)) && NEAR(from[me], c) ->
			grants++; NEW_ID(id[me]); kind[me] = 1; expected[me] = writeId; mark[me] = from[me] + WINDOW; seenIncarnation[me] = incarnation
		:: else -> from[me] = 0
		fi;
		c = 0 }
	:: atomic { kind[me] == 1 ->
		if
		:: writeId == expected[me] -> write(id[me], id[me], mark[me]);
			if
			:: SAME_INCARNATION -> held[me] = id[me]; next[me] = from[me]; hi[me] = mark[me]; confirmed[me] = id[me]; grantIncarnation[me] = incarnation
			:: else
			fi
		:: else
		fi;
		forgetRequest() }
	:: atomic { kind[me] == 1 -> unanswered(expected[me], id[me], id[me], mark[me]);
		forgetRequest() }

	/* RENEW */
	:: atomic { kind[me] == 0 && held[me] != 0 -> readClock(c);
		if
		:: !IS_OURS -> forgetGrant(me)
		:: IS_OURS && ALIVE_AT_SENDING(c) && MAY_RENEW ->
			if :: writeId != confirmed[me] -> confirmed[me] = writeId; hi[me] = MAX(hi[me], hwm) :: else fi;
			open[me] = 0;
			if
			:: NEAR(next[me], c) && MAX(c, next[me]) + WINDOW > hi[me] ->
				NEW_ID(id[me]); kind[me] = 2; expected[me] = writeId; mark[me] = MAX(hwm, MAX(c, next[me]) + WINDOW)
			:: else
			fi
		:: else
		fi;
		c = 0 }
	:: atomic { kind[me] == 2 -> readClock(c);
		if
		:: writeId == expected[me] -> write(token, id[me], mark[me]);
			if :: held[me] != 0 && ALIVE_AT_ANSWER(c) && MAY_RENEW -> confirmed[me] = id[me]; hi[me] = mark[me] :: else fi
		:: else
		fi;
		forgetRequest(); c = 0 }
	:: atomic { kind[me] == 2 -> open[me] = id[me]; unanswered(expected[me], held[me], id[me], mark[me]); forgetRequest() }

	/* The resume record: durable ahead of use. */
	:: atomic { me < RESUMERS && held[me] != 0 &&
		(recToken[me] != held[me] || recMark[me] != hi[me] || recConfirmed[me] != confirmed[me] || recOpen[me] != open[me]) ->
		recToken[me] = held[me]; recHi[me] = hi[me]; recMark[me] = hi[me]; recConfirmed[me] = confirmed[me]; recOpen[me] = open[me];
		recIncarnation[me] = grantIncarnation[me];
		if :: true :: next[me] < hi[me] -> recMark[me] = next[me] + 1 fi }
	:: atomic { me < RESUMERS && held[me] == 0 && kind[me] == 0 && recToken[me] != 0 ->
		held[me] = recToken[me]; hi[me] = recHi[me]; next[me] = recMark[me]; confirmed[me] = recConfirmed[me]; open[me] = recOpen[me];
		grantIncarnation[me] = recIncarnation[me]; resumed[me] = 1 }

	/* ISSUE one timestamp: not at or above hi, not further ahead of a reading than LEAD. */
	:: atomic { held[me] != 0 -> readClock(c); c = MAX(c, next[me]);
		if
		:: c < hi[me] && c <= now + SPREAD + LEAD && MAY_ISSUE(c) ->
			assert(!issued || c != watched);
			issued = issued || c == watched;
			next[me] = c + 1
		:: else
		fi;
		c = 0 }

	/* RELEASE: the resume record goes first, then the write from the record as last confirmed. */
	:: atomic { held[me] != 0 && kind[me] == 0 && IS_OURS ->
		if :: recToken[me] == held[me] -> deleteRecord(me) :: else fi;
		NEW_ID(id[me]);
		if :: writeId == confirmed[me] -> write(0, id[me], next[me]) :: unanswered(confirmed[me], 0, id[me], next[me]) fi;
		id[me] = 0; forgetGrant(me) }

	/* CRASH */
	:: atomic { held[me] != 0 || kind[me] != 0 ->
		if :: kind[me] == 2 -> unanswered(expected[me], held[me], id[me], mark[me]) :: kind[me] == 1 -> unanswered(expected[me], id[me], id[me], mark[me]) :: else fi;
		forgetRequest(); forgetGrant(me) }
	od
}

/*
 * A reduction, not a rule: a grant or resume record that lies wholly in the past of every clock can issue nothing more, so it is forgotten.
 * Not beside claims: its release may still put the mark where a claim can begin.
 */
inline forgetPast(i_) {
#if !PAST
	if
	:: held[i_] != 0 ->
		next[i_] = MAX(next[i_], now);
#if !defined(MUTANT_LAPSED_SENDS) && !defined(MUTANT_LAPSED_RECEIVES)
		if :: hi[i_] <= now -> forgetGrant(i_) :: else fi
#endif
	:: else
	fi;
	if
	:: recToken[i_] != 0 && recToken[i_] != token && recHi[i_] <= now -> deleteRecord(i_)
	:: else -> recMark[i_] = (recToken[i_] != 0 -> MAX(recMark[i_], now) : 0)
	fi
#else
	skip
#endif
}

active proctype World() {
	atomic { select(watched : 0 .. TIME_MAX + SPREAD + LEAD); ready = 1 };
end:
	do
	:: atomic { now < TIME_MAX -> now++; forgetPast(0); forgetPast(1); forgetPast(PROCESSES - 1) }
	:: atomic { incarnation < LOSSES && !backedUp && writeId != 0 ->
		backedUp = 1; oldToken = token; oldId = writeId; oldHwm = hwm; oldCounter = counter }
	/* The loss: back to the empty store, or to the state that was kept. */
	:: atomic { incarnation < LOSSES && writeId != oldId ->
		token = oldToken; writeId = oldId; hwm = oldHwm; counter = oldCounter; incarnation++;
#ifdef MUTANT_STANDING_T0 /* a second loss within a quarantine leaves its end as it is */
		if :: incarnation == 1 -> firstSeen = UNSEEN :: else fi;
#else
		firstSeen = UNSEEN;
#endif
		oldToken = 0; oldId = 0; oldHwm = 0; oldCounter = 0; backedUp = 0 }
	:: atomic { lateWrite ->
		if :: writeId == lateExpected -> write(lateToken, lateId, lateHwm) :: true fi;
		lateWrite = 0; lateExpected = 0; lateToken = 0; lateId = 0; lateHwm = 0 }
	od
}

#if PAST
#ifdef MUTANT_PAST_BELOW_FLOOR         /* the floor that a loss sets does not bind a claim */
#define ABOVE_FLOOR true
#else
#define ABOVE_FLOOR (FLOOR <= pastFrom)
#endif
#ifdef MUTANT_PAST_OF_THE_FUTURE       /* a claim may end after the present */
#define ENDED(c) true
#else
#define ENDED(c) (pastUntil <= c)
#endif
#ifdef MUTANT_PAST_INCARNATION_BEFORE_WRITE /* a claim reads the incarnation before its write, and not again */
#define SAME_LIFE true
#else
#define SAME_LIFE (pastIncarnation == incarnation)
#endif
inline forgetClaim() { pastFrom = 0; pastUntil = 0; pastExpected = 0; pastId = 0; pastIncarnation = 0 }

/*
 * Operators claim [pastFrom, pastUntil), one after another, without a statement of theirs. All IDs of a claim count as issued when its write is
 * applied: what is issued later than that cannot be told apart, and a claim without an answer issues none.
 */
active proctype Past() {
	byte c;
	ready;
end:
	do
	/* LOOK: no token, and a mark that is at most the beginning. */
	:: atomic { pastId == 0 && claims < PAST && token == 0 -> readClock(c);
		if :: firstSeen == UNSEEN -> firstSeen = c :: else fi;
		select(pastFrom : 0 .. TIME_MAX); select(pastUntil : 1 .. TIME_MAX + SPREAD);
		if
		:: pastFrom < pastUntil && ENDED(c) && hwm <= pastFrom && ABOVE_FLOOR ->
			claims++; NEW_ID(pastId); pastExpected = writeId; pastIncarnation = incarnation
		:: else -> pastFrom = 0; pastUntil = 0
		fi;
		c = 0 }
	/* The write: at any later time, or never. Under another incarnation it is dropped, and its mark stays. */
	:: atomic { pastId != 0 ->
		if
		:: writeId == pastExpected -> write(0, pastId, pastUntil);
			if
			:: SAME_LIFE && pastFrom <= watched && watched < pastUntil -> assert(!issued); issued = 1
			:: else
			fi
		:: else
		fi;
		forgetClaim() }
	:: atomic { pastId != 0 -> forgetClaim() }
	od
}
#endif
