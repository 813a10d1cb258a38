/*
 * The worker protocol on a store that keeps what it has confirmed: acquire, renew, rebase, release, resume, the clone of a process, and
 * claims of the past.
 *
 * The clock is an adversary: each reading is any value from 0 to CLOCK_MAX, for anyone, at any time. A record may be taken over at any moment,
 * which covers expiry judged right or wrong. The network is an adversary: a write is applied at any time after it was sent, also after its
 * sender gave up or crashed, or never; its answer may be lost. Crash is possible between any two steps.
 *
 * One ID, `watched`, is chosen at the start, any of all. It must not be issued twice. As it is arbitrary, no ID is issued twice.
 *
 * A fresh number stands for 128 random bits, and a grant's token is the writeId of the write that acquired it.
 * model/README.md says how to run it, what has been exhausted, and what is left to argument. Each MUTANT_ removes one rule of docs/safety.md.
 */
#ifndef PROCESSES
#define PROCESSES 2      /* 2 or 3 */
#endif
#ifndef WORKERS          /* worker IDs; 2 make rebase possible */
#define WORKERS 1
#endif
#ifndef TICKS            /* timestamps 0 .. TICKS-1 */
#define TICKS 3
#endif
#ifndef CLOCK_MAX
#define CLOCK_MAX 0
#endif
#ifndef WINDOW
#define WINDOW 1
#endif
#ifndef WRITES           /* writes in all, 1 to 250 */
#define WRITES 4
#endif
#ifndef RESUMERS         /* processes 0 .. RESUMERS-1 keep a resume record */
#define RESUMERS 0
#endif
#ifndef CLONES           /* 1: process 0 may be copied over process 1, once */
#define CLONES 0
#endif
#ifndef PAST             /* 1: operators claim the past, one after another */
#define PAST 0
#endif

#define MAX(a, b) ((a) > (b) -> (a) : (b))
#define me _pid
#ifdef MUTANT_NO_LOCK    /* all processes work in one data folder at once */
#define folder 0
#else
#define folder _pid
#endif

/* The store: one record a worker ID. writeId 0: absent. token 0: released. */
byte token[WORKERS], writeId[WORKERS], hwm[WORKERS];
byte drawn;                                     /* writeIds drawn so far */

/* Memory of a process: its grant, the next timestamp, hi, the write last confirmed, one write without an answer. */
byte held[PROCESSES], worker[PROCESSES], next[PROCESSES], hi[PROCESSES], confirmed[PROCESSES];
byte open[PROCESSES], openHi[PROCESSES];
/* A grant that it left by rebase, and where its release must put the mark. */
byte left[PROCESSES], leftWorker[PROCESSES], leftMark[PROCESSES], leftConfirmed[PROCESSES];
/* Its request: kind 0 none, 1 acquire, 2 renew, 3 release; state 0 under way, 1 applied, 2 refused. */
byte kind[PROCESSES], reqWorker[PROCESSES], reqExpected[PROCESSES], reqToken[PROCESSES], reqId[PROCESSES], reqHwm[PROCESSES];
byte reqState[PROCESSES], reqLo[PROCESSES];
/* Its resume record. recToken 0: none. */
byte recToken[PROCESSES], recWorker[PROCESSES], recHi[PROCESSES], recMark[PROCESSES], recConfirmed[PROCESSES];
byte recOpen[PROCESSES], recOpenHi[PROCESSES];
/* One write whose sender no longer waits for it; applied at any later time, or never. */
byte lateWrite, lateDone, lateWorker, lateExpected, lateToken, lateId, lateHwm;

byte watched; bool issued, ready;
#if CLONES
bool cloned; byte cloneBound, cloneToken;       /* see the CLONE step */
byte cloneDrawn;                                /* writeIds drawn before */
bool renewedAfter[PROCESSES];
byte lostToken[PROCESSES];
#endif

#ifdef MUTANT_SAME_RANDOM /* a clone draws the same writeIds as its original: the generator's state was in the process */
byte seed[PROCESSES];
#define CAN_WRITE (seed[me] < WRITES)
#define DRAW(x) seed[me]++; x = seed[me]
#else
#define CAN_WRITE (drawn < WRITES)
#define DRAW(x) drawn++; x = drawn
#endif

inline apply(w_, expected_, token_, id_, hwm_, done_) {
	if
#ifdef MUTANT_NO_COMPARE /* the store writes without comparing */
	:: true -> token[w_] = token_; writeId[w_] = id_; hwm[w_] = MAX(hwm[w_], hwm_); done_ = 1
#else
	:: writeId[w_] == expected_ -> token[w_] = token_; writeId[w_] = id_; hwm[w_] = hwm_; done_ = 1
	:: else -> done_ = 2
#endif
	fi
}
inline forgetRequest() {
	kind[me] = 0; reqWorker[me] = 0; reqExpected[me] = 0; reqToken[me] = 0; reqId[me] = 0; reqHwm[me] = 0; reqState[me] = 0; reqLo[me] = 0
}
inline forgetGrant() {
	held[me] = 0; worker[me] = 0; next[me] = 0; hi[me] = 0; confirmed[me] = 0; open[me] = 0; openHi[me] = 0
}
inline forgetLeft() { left[me] = 0; leftWorker[me] = 0; leftMark[me] = 0; leftConfirmed[me] = 0 }
inline deleteRecord(of_) {
	if
	:: recToken[folder] == of_ && of_ != 0 ->
		recToken[folder] = 0; recWorker[folder] = 0; recHi[folder] = 0; recMark[folder] = 0; recConfirmed[folder] = 0;
		recOpen[folder] = 0; recOpenHi[folder] = 0
	:: else
	fi
}
/* Nobody waits for the request any more: if it is still under way it may be applied late (one such write at a time) or never. */
inline letGo() {
	if
	:: kind[me] != 0 && reqState[me] == 0 && !lateWrite ->
		lateWrite = 1; lateWorker = reqWorker[me]; lateExpected = reqExpected[me]; lateToken = reqToken[me]; lateId = reqId[me];
		lateHwm = reqHwm[me]
	:: true
	fi
}
inline confirm(id_, hwm_) {
	confirmed[me] = id_; hi[me] = MAX(hi[me], hwm_);
#if CLONES
	if
	:: cloned && id_ > cloneDrawn && held[me] == cloneToken -> renewedAfter[me] = 1;
		/* At most one copy gets past the first renewal that it sent after the cloning. */
		assert(!renewedAfter[0] || !renewedAfter[1])
	:: else
	fi;
#endif
	open[me] = 0; openHi[me] = 0
}
inline lose() {
#if CLONES
	lostToken[me] = held[me];
#endif
#ifndef MUTANT_LOST_KEEPS_RECORD /* LOST leaves the resume record, so that a restart goes on */
	deleteRecord(held[me]);
#endif
	forgetGrant()
}
/* A grant was confirmed. The grant that was held before is left: a rebase. */
inline adopt() {
	if
	:: held[me] != 0 -> left[me] = held[me]; leftWorker[me] = worker[me]; leftMark[me] = next[me]; leftConfirmed[me] = confirmed[me]
	:: else
	fi;
	held[me] = reqToken[me]; worker[me] = reqWorker[me]; next[me] = reqLo[me]; hi[me] = reqHwm[me]; confirmed[me] = reqId[me];
	open[me] = 0; openHi[me] = 0
}

#ifdef MUTANT_TOKEN_ONLY /* whatever stands under our token is taken for our own write */
#define IS_OURS (token[worker[me]] == held[me])
#else
#define IS_OURS (writeId[worker[me]] == confirmed[me] || (open[me] != 0 && writeId[worker[me]] == open[me]))
#endif

active [PROCESSES] proctype Process() {
	byte c;
	atomic {
		if
		:: me == 0 -> select(watched : 0 .. WORKERS * TICKS - 1);
#ifdef MUTANT_SAME_RANDOM
			seed[1] = 100;
#endif
			ready = 1
		:: else -> ready
		fi
	};
end:
	do
	/* ACQUIRE, also beside a grant that is to be left. The first goes to process 0 and worker ID 0: until then all are alike. */
	:: atomic { kind[me] == 0 && left[me] == 0 && CAN_WRITE && (held[me] == 0 || WORKERS > 1) && (me == 0 || drawn > 0) ->
		reqWorker[me] = 0;
		if :: true :: WORKERS > 1 && drawn > 0 -> reqWorker[me] = WORKERS - 1 fi;
		select(c : 0 .. CLOCK_MAX);
#ifdef MUTANT_OWN_CLOCK   /* a successor begins at its own clock, not at the mark */
		reqLo[me] = c;
#else
		reqLo[me] = MAX(hwm[reqWorker[me]], c);
#endif
		if
		:: reqLo[me] + WINDOW <= TICKS && !(held[me] != 0 && worker[me] == reqWorker[me]) ->
			DRAW(reqId[me]); kind[me] = 1; reqExpected[me] = writeId[reqWorker[me]]; reqToken[me] = reqId[me];
			reqHwm[me] = reqLo[me] + WINDOW
		:: else -> forgetRequest()
		fi;
		c = 0 }
	:: atomic { kind[me] == 1 && reqState[me] == 1 -> adopt();
#ifdef MUTANT_REBASE_STAYS /* the left grant goes on being used while its release may be sent */
		if :: left[me] != 0 -> held[me] = left[me]; worker[me] = leftWorker[me]; next[me] = leftMark[me]; confirmed[me] = leftConfirmed[me];
			hi[me] = hwm[leftWorker[me]] :: else fi;
#endif
		forgetRequest() }
	:: atomic { kind[me] == 1 && reqState[me] == 2 -> forgetRequest() }
	/* No answer: read again. Our writeId stands there: it landed. */
	:: atomic { kind[me] == 1 && reqState[me] != 2 ->
		if
#ifdef MUTANT_SILENCE_IS_SUCCESS /* no answer is taken for success */
		:: true -> adopt()
#else
		:: writeId[reqWorker[me]] == reqId[me] -> adopt()
		:: else
#endif
		fi;
		letGo(); forgetRequest() }

	/* RENEW from the record as last confirmed. */
	:: atomic { kind[me] == 0 && held[me] != 0 && CAN_WRITE -> select(c : 0 .. CLOCK_MAX);
		c = MAX(hi[me], MAX(c, next[me]) + WINDOW);
		if
		:: c <= TICKS -> DRAW(reqId[me]); kind[me] = 2; reqWorker[me] = worker[me]; reqExpected[me] = confirmed[me];
			reqToken[me] = held[me]; reqHwm[me] = c;
#ifdef MUTANT_WINDOW_AT_SENDING /* hi grows when the renewal is sent */
			hi[me] = c
#endif
		:: else
		fi;
		c = 0 }
	:: atomic { kind[me] == 2 && reqState[me] == 1 -> confirm(reqId[me], reqHwm[me]); forgetRequest() }
	:: atomic { kind[me] == 2 && reqState[me] == 2 ->
		if
		:: IS_OURS -> if :: writeId[worker[me]] != confirmed[me] -> confirm(writeId[worker[me]], hwm[worker[me]]) :: else fi
		:: else -> lose()
		fi;
		forgetRequest() }
	/* No answer: hi stays; the write is remembered. */
	:: atomic { kind[me] == 2 -> open[me] = reqId[me]; openHi[me] = reqHwm[me]; letGo(); forgetRequest() }

	/* RELEASE: issuing stops, the resume record is durably gone, then the write. */
	:: atomic { held[me] != 0 && left[me] == 0 && kind[me] == 0 && CAN_WRITE ->
		left[me] = held[me]; leftWorker[me] = worker[me]; leftMark[me] = next[me]; leftConfirmed[me] = confirmed[me];
#ifndef MUTANT_RELEASE_BEFORE_STOP /* the release is sent, and issuing goes on */
		forgetGrant()
#endif
		}
	:: atomic { left[me] != 0 && kind[me] == 0 && CAN_WRITE ->
#if !defined(MUTANT_RECORD_OUTLIVES_RELEASE) && !defined(MUTANT_RECORD_DELETED_AFTER) /* released while the resume record still stands */
		deleteRecord(left[me]);
#endif
		DRAW(reqId[me]); kind[me] = 3; reqWorker[me] = leftWorker[me]; reqToken[me] = 0; reqHwm[me] = leftMark[me];
#ifdef MUTANT_RELEASE_BY_TOKEN /* the release compares the token alone */
		reqExpected[me] = (token[leftWorker[me]] == left[me] -> writeId[leftWorker[me]] : leftConfirmed[me]);
#else
		reqExpected[me] = leftConfirmed[me];
#endif
		}
	:: atomic { kind[me] == 3 ->
#ifdef MUTANT_RECORD_DELETED_AFTER
		if :: reqState[me] == 1 -> deleteRecord(left[me]) :: else fi;
#endif
#ifdef MUTANT_UNRELEASE  /* a release without an answer is taken back, and its grant used again */
		if :: reqState[me] == 0 && held[me] == 0 -> held[me] = left[me]; worker[me] = leftWorker[me]; next[me] = leftMark[me];
			confirmed[me] = leftConfirmed[me]; hi[me] = hwm[leftWorker[me]] :: else fi;
#endif
		letGo(); forgetRequest(); forgetLeft() }

	/* The resume record: replaced as a whole and durable before any ID at or above its old mark is issued. */
	:: atomic { me < RESUMERS && held[me] != 0 &&
		(recToken[folder] != held[me] || recMark[folder] < hi[me] || recConfirmed[folder] != confirmed[me] || recOpen[folder] != open[me]) ->
		recToken[folder] = held[me]; recWorker[folder] = worker[me]; recHi[folder] = hi[me]; recConfirmed[folder] = confirmed[me];
		recOpen[folder] = open[me]; recOpenHi[folder] = openHi[me];
		if :: true -> recMark[folder] = hi[me] :: next[me] < hi[me] -> recMark[folder] = next[me] + 1 fi }
	/* RESUME, whatever the store holds. */
	:: atomic { me < RESUMERS && held[me] == 0 && left[me] == 0 && kind[me] == 0 && recToken[folder] != 0 ->
		held[me] = recToken[folder]; worker[me] = recWorker[folder]; hi[me] = recHi[folder]; confirmed[me] = recConfirmed[folder];
		open[me] = recOpen[folder]; openHi[me] = recOpenHi[folder];
#ifdef MUTANT_RESUME_AT_CLOCK /* a resumed grant begins at the clock, not at its durable mark */
		next[me] = 0
#else
		next[me] = recMark[folder]
#endif
		}

	/* ISSUE one timestamp of the grant. */
	:: atomic { held[me] != 0 -> select(c : 0 .. CLOCK_MAX); c = MAX(c, next[me]);
		if
#ifdef MUTANT_MARK_AFTER_USE /* the resume record's mark is written after use */
		:: c < hi[me] ->
#elif defined(MUTANT_ISSUES_AT_HI) /* <= for < */
		:: c <= hi[me] && c < TICKS && (recToken[folder] != held[me] || c < recMark[folder]) ->
#else
		:: c < hi[me] && (recToken[folder] != held[me] || c < recMark[folder]) ->
#endif
#if CLONES
			assert(held[me] != lostToken[me]); /* After LOST not one more ID of that grant, also not after a restart. */
			/* A clone may repeat only what lies below every mark that was granted or asked for when it was made. */
			assert(!issued || worker[me] * TICKS + c != watched || (cloned && watched < cloneBound));
#else
			assert(!issued || worker[me] * TICKS + c != watched);
#endif
			issued = issued || worker[me] * TICKS + c == watched;
			next[me] = c + 1
		:: else
		fi;
		c = 0 }

	/* CRASH: memory is gone; the resume record and what is under way stay. */
	:: atomic { held[me] != 0 || left[me] != 0 || kind[me] != 0 ->
		letGo(); forgetRequest(); forgetGrant(); forgetLeft() }
#ifdef MUTANT_RECORD_RESTORED /* an older resume record is put back from a backup */
	:: atomic { me < RESUMERS && held[me] == 0 && recMark[folder] > 0 -> recMark[folder] = recMark[folder] - 1 }
#endif
	od
}

active proctype Network() {
end:
	do
	:: atomic { kind[0] != 0 && reqState[0] == 0 -> apply(reqWorker[0], reqExpected[0], reqToken[0], reqId[0], reqHwm[0], reqState[0]) }
	:: atomic { kind[1] != 0 && reqState[1] == 0 -> apply(reqWorker[1], reqExpected[1], reqToken[1], reqId[1], reqHwm[1], reqState[1]) }
#if PROCESSES > 2
	:: atomic { kind[2] != 0 && reqState[2] == 0 -> apply(reqWorker[2], reqExpected[2], reqToken[2], reqId[2], reqHwm[2], reqState[2]) }
#endif
	:: atomic { lateWrite ->
		if :: true -> apply(lateWorker, lateExpected, lateToken, lateId, lateHwm, lateDone) :: true fi;
		lateWrite = 0; lateDone = 0; lateWorker = 0; lateExpected = 0; lateToken = 0; lateId = 0; lateHwm = 0 }
#if CLONES
	/* CLONE: all that process 0 has in memory, under way and on its disk is copied over an idle process 1, once. */
	:: atomic { !cloned && held[1] == 0 && kind[1] == 0 && left[1] == 0 && recToken[1] == 0 && (held[0] != 0 || kind[0] != 0 || recToken[0] != 0) ->
		cloned = 1;
		cloneBound = MAX(MAX(hi[0], openHi[0]), MAX(MAX(recHi[0], recOpenHi[0]), reqHwm[0]));
		cloneToken = (held[0] != 0 -> held[0] : (kind[0] == 1 -> reqToken[0] : recToken[0]));
		held[1] = held[0]; worker[1] = worker[0]; next[1] = next[0]; hi[1] = hi[0]; confirmed[1] = confirmed[0];
		open[1] = open[0]; openHi[1] = openHi[0];
		left[1] = left[0]; leftWorker[1] = leftWorker[0]; leftMark[1] = leftMark[0]; leftConfirmed[1] = leftConfirmed[0];
		kind[1] = kind[0]; reqWorker[1] = reqWorker[0]; reqExpected[1] = reqExpected[0]; reqToken[1] = reqToken[0]; reqId[1] = reqId[0];
		reqHwm[1] = reqHwm[0]; reqState[1] = reqState[0]; reqLo[1] = reqLo[0];
		recToken[1] = recToken[0]; recWorker[1] = recWorker[0]; recHi[1] = recHi[0]; recMark[1] = recMark[0];
		recConfirmed[1] = recConfirmed[0]; recOpen[1] = recOpen[0]; recOpenHi[1] = recOpenHi[0];
#ifdef MUTANT_SAME_RANDOM
		seed[1] = seed[0]; cloneDrawn = seed[0]
#else
		cloneDrawn = drawn
#endif
		}
#endif
	od
}

#if PAST
/*
 * Operators claim [from, until) of a worker ID. Each step may fall between any two of the others. All IDs of a claim count as issued when its
 * write is applied: what is issued later than that cannot be told apart, and a claim without an answer issues none.
 */
active proctype Past() {
	byte w, from, until, expected, id;
end:
	do
	/* LOOK: a worker ID without a token, whose mark is at most the beginning. */
	:: atomic { ready && id == 0 && drawn < WRITES ->
		if :: true :: WORKERS > 1 -> w = WORKERS - 1 fi;
		select(from : 0 .. TICKS - 1);
		select(until : 1 .. TICKS);
		if
#ifdef MUTANT_PAST_BELOW_MARK /* the mark is not compared with the beginning */
		:: from < until && token[w] == 0 ->
#else
		:: from < until && token[w] == 0 && hwm[w] <= from ->
#endif
			drawn++; id = drawn; expected = writeId[w]
		:: else -> w = 0; from = 0; until = 0
		fi }
	/* The write: at any later time, or never. */
	:: atomic { id != 0 ->
		if
#ifdef MUTANT_PAST_WITHOUT_COMPARE /* whatever stands there is written over */
		:: true ->
#else
		:: writeId[w] == expected ->
#endif
			token[w] = 0; writeId[w] = id;
#ifndef MUTANT_PAST_RAISES_NO_MARK /* the mark stays where it was */
			hwm[w] = until;
#endif
			if
			:: w * TICKS + from <= watched && watched < w * TICKS + until -> assert(!issued); issued = 1
			:: true
			fi
#ifndef MUTANT_PAST_WITHOUT_COMPARE
		:: else
#endif
		fi;
		w = 0; from = 0; until = 0; expected = 0; id = 0 }
	:: atomic { id != 0 -> w = 0; from = 0; until = 0; expected = 0; id = 0 }
	od
}
#endif
