import { groupDigits as number } from "../../../src/text/group-digits.ts";
import type { ProofTexts } from "./proof-en.ts";

/** Swahili, translated without a native reader. */

const seconds = (ms: number): string => `sek ${(ms / 1_000).toFixed(2)}`;

const whats: ProofTexts["drop"]["whats"] = {
  back: "Rudisha saa sek 1.2",
  ahead: "Sogeza saa mbele sek 1.2",
  pause: "Simamisha sek 3",
  kill: "Ua",
  cut: "Kata mtandao sek 3",
  wipe: "Futa hifadhi",
  older: "Rejesha data ya zamani",
  failover: "Badilisha hifadhi",
};

const waitCauses = {
  mark: "hadi saa yake ipite alama ya ID ya nodi yake",
  quarantine: "mwisho wa karantini",
  silence: "hadi ihakikishe kwamba mchakato mwingine umeondoka",
  "free-worker-id": "ID ya nodi iliyo huru",
};

const granted = (slot: number, worker: number): string => `Mchakato ${slot} unapata ID ya nodi ${worker}.`;

const below = {
  "own-clock": "Unaanza kwa saa yake, si kwa alama",
  "no-floor": "Alama ilipotea pamoja na data, na hausubiri mwisho wa karantini: unaanza",
  "no-quarantine": "Alama ilipotea pamoja na data, na hakuna muda uliohesabiwa juu ya alama zote zilizopotea: unaanza",
  "identity-is-trusted": "Hifadhi ni nyingine yenye data ya zamani, na unaichukua kuwa ile ile: unaanza",
};

const happened: ProofTexts["story"]["happened"] = (happening, rule) => {
  switch (happening.kind) {
    case "fault":
      return {
        back: "",
        ahead: "",
        pause: `Mchakato ${happening.slot} unasimama kwa sek 3, na haujui.`,
        kill: `Mchakato ${happening.slot} unauawa.`,
        cut: `Mtandao kati ya mchakato ${happening.slot} na hifadhi umekatwa kwa sek 3.`,
        wipe: "Hifadhi imefutwa: rekodi zote zimetoweka.",
        older: "Hifadhi imerudishwa kwenye nakala ya zamani.",
        failover: "Nakala inachukua nafasi ya hifadhi. Huenda haina maandishi ya mwisho.",
      }[happening.what];
    case "clock":
      return `Saa ya mchakato ${happening.slot} ${happening.byMs < 0 ? "inarudishwa" : "inasogezwa mbele"} kwa ${seconds(Math.abs(happening.byMs))}.`;
    case "started":
      return `Mchakato ${happening.slot} unaanza tena.`;
    case "marks-lost":
      return `Hifadhi haina tena alama za ID za nodi ${happening.workers.join(", ")}.`;
    case "granted":
      return granted(happening.slot, happening.worker);
    case "granted-below": {
      const { slot, worker, fromMs, markMs } = happening;
      const begins = `${below[rule ?? "own-clock"]} katika ${seconds(fromMs)}`;
      return `${granted(slot, worker)} Hifadhi ilikuwa imethibitisha alama ${seconds(markMs)} kwa nodi hii: muda wowote chini yake huenda umo katika ID tayari. ${begins}. Kwa kanuni hii ungeanza ${seconds(markMs)} au baadaye.`;
    }
    case "grant-ended":
      return {
        lost: `Mchakato ${happening.slot} unakuta ID yake ya nodi imechukuliwa, na hautoi tena.`,
        lapsed: `Mchakato ${happening.slot} umemaliza muda ulioutenga, na hautoi tena.`,
        regressed: `Mchakato ${happening.slot} unakuta hifadhi imepoteza data, na hautoi tena.`,
      }[happening.end];
    case "waits":
      return `Mchakato ${happening.slot} unasubiri ${waitCauses[happening.cause]}.`;
    case "quarantine":
      return `Mchakato ${happening.slot} unaandika karantini hadi ${seconds(happening.untilMs)}: juu ya kila alama iliyoweza kupotea.`;
    case "equal":
      return `Mchakato ${happening.slot} unatoa ID zilizotolewa katika ${seconds(happening.firstAtMs)} tayari: ID ${number(happening.count)} zimerudiwa.`;
    case "healed":
      return "Hitilafu zote zimeisha.";
  }
};

/** Swahili. */
export const proofSw: ProofTexts = {
  heading: "Jaribu kuifanya irudie ID",
  lead: "Hapa chini, msimbo wenyewe wa seva unatoa ID juu ya saa, mtandao na hifadhi vya kuigiza. Ongeza hitilafu, au ondoa kanuni moja. Huu ni uigaji: unajaribu, hauthibitishi.",
  copyLink: "Nakili kiungo cha jaribio hili",
  copied: { done: "Imenakiliwa", refused: "Haikunakiliwa: tumia anwani" },
  computing: "Inahesabiwa.",
  problems: {
    slow: "Jaribio lilizidi sekunde mbili, na limesimamishwa.",
    missing: "Uigaji hauwezi kupakiwa. Pakia ukurasa upya.",
    failed: (detail) => `Msimbo ulishindwa katika jaribio hili: ${detail}`,
  },
  figures: {
    label: "Matokeo ya jaribio",
    whole: "Snowlane, kanuni zote",
    without: "Snowlane, bila kanuni moja",
    simple: "Kizalishaji rahisi, hitilafu zile zile",
    silence: "Muda mrefu zaidi bila ID",
    ids: (count) => `ID ${number(count)}`,
    none: "hakuna zinazolingana",
    equal: (count, firstMs) => `${number(count)} zimerudiwa, ya kwanza ${seconds(firstMs)}`,
    silenceWhole: "Bei ya kutorudia kamwe",
    silenceWithout: "Kanuni moja imeondolewa",
    seconds,
  },
  player: {
    label: "Jaribio",
    play: "Cheza",
    pause: "Tua",
    previous: "Tukio la nyuma",
    next: "Tukio lijalo",
    time: "Muda katika jaribio",
    at: (atMs, endMs) => `${seconds(atMs)} kati ya ${seconds(endMs)}`,
    speed: "Kasi",
    seed: "Mbegu",
    another: "Mbegu nyingine",
    store: "Hifadhi",
    stores: { server: "Seva inayoweza kupoteza data", file: "Faili inayotunza yote" },
  },
  lanes: {
    picture: "Jaribio kama picha. Jedwali lililo chini linasema yale yale.",
    process: (slot) => `mchakato ${slot}`,
    store: "hifadhi",
    marks: "alama",
    worker: (worker) => `nodi ${worker}`,
    waits: "unasubiri",
    equal: "ID ile ile, mara mbili",
    equalIds: (first, more) => (more === 0 ? first : `${first} na nyingine ${number(more)}`),
    faults: {
      back: "saa nyuma",
      ahead: "saa mbele",
      pause: "umesimama",
      kill: "umeuawa",
      cut: "umekatwa",
      wipe: "hifadhi imefutwa",
      older: "data ya zamani",
      failover: "hifadhi nyingine",
    },
  },
  drop: {
    title: (atMs) => `Ongeza katika ${seconds(atMs)}`,
    target: "Kwa mchakato",
    whats,
    late: (ms) => `Hitilafu zinaweza kuongezwa hadi ${seconds(ms)}: rudi nyuma.`,
    full: (count) => `Jaribio lina hitilafu zisizozidi ${count}.`,
    keeps: "Faili hutunza yote iliyothibitisha: ni seva tu inayoweza kufutwa, kurudishwa au kubadilishwa.",
    dropped: "Hitilafu za jaribio hili",
    none: "Bado hakuna.",
    one: (what, slot, atMs) => `${whats[what]}, mchakato ${slot}, ${seconds(atMs)}`,
    remove: (what, slot, atMs) => `Ondoa: ${whats[what]}, mchakato ${slot}, ${seconds(atMs)}`,
    clear: "Ondoa zote",
  },
  rules: {
    title: "Ondoa kanuni moja",
    all: "Kanuni zote zipo",
    names: {
      "own-clock": "Mrithi anaanza kwenye alama, saa yake isemavyo vyovyote",
      "no-floor": "Hakuna kinachotolewa kabla ya karantini kuisha",
      "no-quarantine": "Baada ya upotevu, nodi zinaanza juu ya yote yaliyopotea",
      "identity-is-trusted": "Hifadhi yenye utambulisho mwingine ni hifadhi nyingine",
    },
    safety: {
      "own-clock":
        "Mchakato unaweza kutumia muda ikiwa tu uko chini ya alama ambayo hifadhi imeuthibitishia mchakato huo kwa kudumu, na mrithi anaanza kwenye alama, saa yake isemavyo vyovyote.",
      "no-floor":
        "Utoaji unaanza kwenye kilicho juu zaidi kati ya alama yake, saa, mwisho wa karantini na muda wa mwisho ambao mchakato huu wenyewe ulitoa kwa ID hiyo ya nodi.",
      "no-quarantine":
        "utoaji mpya unaanza juu ya dirisha refu zaidi, utangulizi na kosa la saa mbili baada ya upotevu kuonekana mara ya kwanza",
      "identity-is-trusted": "Hifadhi iliyoanza tena, iliyo nyingine au iliyofutwa hufunga utoaji mpya, si uhuishaji",
    },
    harmless:
      "Katika jaribio hili hakuna kilichorudiwa bila kanuni hii. Majaribio mengi hayaihitaji. Haya yanaihitaji:",
    shows: "Majaribio yanayohitaji kanuni hii:",
    seed: (seed) => `Mbegu ${seed}`,
  },
  story: {
    title: "Yaliyotokea",
    mark: "Alama ni muda ambao hifadhi inautunza kwa kila ID ya nodi. Uko juu ya kila muda ambao ID ya nodi hiyo inaweza kubeba. Mchakato hutumia tu muda ulio chini ya alama iliyothibitishwa kwake na hifadhi, na ujao unaanza hapo.",
    happened,
    seconds,
  },
  table: {
    title: "Jaribio kama jedwali",
    columns: ["Nani", "Kuanzia", "Hadi", "Hali"],
    grant: (worker, count) => `unashika ID ya nodi ${worker}, unatoa ID ${number(count)}`,
    waits: "unasubiri ID ya nodi",
    stops: { kill: "umeuawa", pause: "umesimama", cut: "haufikii hifadhi" },
  },
  words: {
    title: "Kilicho halisi, na kilichoigizwa",
    texts: [
      [
        "Halisi:",
        "msimbo wa src/lease, src/worker na src/snowflake, kama seva inavyouendesha. Kanuni nne zinaweza kuzimwa katika nakala hii tu.",
      ],
      [
        "Cha kuigiza:",
        "muda, saa, mtandao, hifadhi na mauaji. Mbegu huamua yote, kwa hiyo kiungo humwonyesha kila mtu jaribio lile lile.",
      ],
      [
        "Kizalishaji rahisi:",
        "programu ya Jifunze, yenye ID ya nodi isiyobadilika na ID 5 kwa milisekunde: mzigo mkubwa kuliko wa michakato ya juu. Inakutana na mabadiliko ya saa, misimamo na mauaji yale yale, na haina hifadhi ya kupoteza.",
      ],
      [
        "Kisichoonyeshwa:",
        "kasoro za hifadhi halisi, kerneli inayopoteza ilichothibitisha, nakala za mashine inayoendeshwa, na yote ambayo hakuna aliyeyafikiria. Uigaji hupata kasoro. Hauwezi kuonyesha kwamba hakuna.",
      ],
      [
        "Mengine:",
        "docs/safety.md ina hoja, model/ ina itifaki kama modeli ambayo kila hali yake hutembelewa, na test/simulation ina mamilioni ya majaribio.",
      ],
    ],
  },
};
