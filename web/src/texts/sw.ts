import { groupDigits as number } from "../../../src/text/group-digits.ts";
import type { ChartName } from "../chart-data.ts";
import type { Failure } from "../failure.ts";
import type { PartProblem } from "../hand-ids.ts";
import type { LayoutProblem } from "../layout-choice.ts";
import type { Span, SpanUnit } from "../time-words.ts";
import type { Texts } from "./en.ts";

/** Swahili, translated without a native reader. */

const unitWords: Readonly<Record<SpanUnit, string>> = {
  year: "miaka",
  day: "siku",
  hour: "saa",
  minute: "dakika",
  second: "sekunde",
};
const spanWords = ({ large, small }: Span): string => {
  const [first = "", second] = [large, small].map((part) => part && `${unitWords[part.unit]} ${number(part.count)}`);
  return second === undefined ? first : `${first} na ${second}`;
};

const fields: Texts["fields"] = {
  timestamp: "wakati",
  datacenter: "kituo cha data",
  worker: "mfanyakazi",
  sequence: "mfuatano",
};

const textFaults: Readonly<Record<string, string>> = {
  character: "yana herufi isiyoruhusiwa hapo",
  too_short: "yanaisha mapema mno",
  too_long: "yanaendelea pale yanapopaswa kuisha",
  leading_zero: "yanaanza na sifuri isiyopaswa kuwepo",
  out_of_range: "yana nambari kubwa mno kwa ID",
  check_symbol: "yanaisha na alama ya ukaguzi isiyolingana: huenda herufi moja imekosewa",
  date: "hayana tarehe ya kalenda",
  tick: "yana wakati ambao mpangilio huu hauwezi kuwa nao",
  prefix: "yana kiambishi kilichokosewa",
  no_form: "hayana umbo la ID yoyote ambayo ukurasa huu unaijua",
  future: "yangekuwa ID ya wakati ujao, au ya mpangilio mwingine",
};

const failures: Readonly<Partial<Record<Failure["reason"], string>>> = {
  UNREACHABLE: "Seva haijibu. Kusoma na kutengeneza katika kivinjari vinaendelea bila seva.",
  UNAUTHENTICATED: "Seva inaomba tokeni: itoe hapo juu.",
  DENIED: "Huruhusiwi kuita hili. Mwombe msimamizi ruhusa.",
  MISSING_CREDENTIALS: "Seva inaomba tokeni: itoe hapo juu.",
  METHOD_DENIED: "Huruhusiwi kuita hili. Mwombe msimamizi ruhusa.",
  COUNT_OUT_OF_RANGE: "Seva haitoi ID nyingi hivyo kwa mara moja. Omba chache zaidi.",
  BURST_EXCEEDED: "Seva imefika kikomo kwa sasa. Jaribu tena baada ya sekunde moja.",
  STORE_UNAVAILABLE: "Seva haiwezi kufikia hifadhi yake. Inajaribu tena yenyewe.",
  WINDOW_EXPIRED: "Seva haikuweza kuhifadhi muda katika hifadhi yake. Inajaribu tena yenyewe.",
  WORKER_LEASE_LOST: "Seva imepoteza nambari yake ya mfanyakazi na inatafuta nyingine. Jaribu tena baadaye kidogo.",
  CLOCK_ROLLED_BACK: "Saa ya seva ilirudishwa nyuma. Seva inasubiri hadi saa ifike tena.",
  SHUTTING_DOWN: "Seva inazimwa. Iwashe tena, kisha ujaribu.",
};

const partProblem = (problem: PartProblem): string => {
  switch (problem.kind) {
    case "not-whole":
      return `Andika nambari kamili kutoka ${number(problem.min)} hadi ${number(problem.max)}.`;
    case "range":
      return `Mpangilio unabeba ${number(problem.min)} hadi ${number(problem.max)} hapa.`;
    case "unreadable-time":
      return "Andika wakati kama 2026-01-31 12:00:00.000 (UTC), au milisekunde za Unix.";
    case "before-epoch":
      return `Kabla ya mwanzo wa mpangilio, ${problem.limit}: hakuna ID inayoweza kubeba wakati huu.`;
    case "after-end":
      return `Baada ya mwisho wa mpangilio, ${problem.limit}: hakuna ID inayoweza kubeba wakati huu.`;
  }
};

const layoutProblem = (problem: LayoutProblem): string => {
  switch (problem.kind) {
    case "date":
      return "Andika tarehe kama 2020-01-01.";
    case "milliseconds":
      return "Andika milisekunde za Unix, kama 1577836800000.";
    case "future":
      return "Mwanzo huu uko mbele: hakuna ID inayoweza kutengenezwa kabla yake.";
    case "range":
      return "Mwanzo uwe kati ya mwaka 1 na 9999.";
    case "bits":
      return "Sehemu ina biti 0 hadi 32, wakati 1 hadi 62.";
    case "sum":
      return `Sehemu zinachukua biti ${problem.bits}. Zisizidi 63, kwa sababu biti ya kwanza hubaki 0.`;
    case "identity":
      return `Kituo cha data na mfanyakazi vinachukua biti ${problem.bits}. Zisizidi 32.`;
    case "timestamp":
      return "ID inahitaji biti za wakati.";
  }
};

const forms: Texts["forms"] = {
  decimal: "desimali",
  hex: "heksi",
  base32: "base32",
  base58: "base58",
  base62: "base62",
  serial: "nambari ya mfululizo",
  uuid: "UUID",
  typed: "yenye aina",
};

/** See the head of this file. */
export const sw: Texts = {
  locale: "sw",
  number,
  fields,
  forms,
  nav: { label: "Kurasa", generate: "Tengeneza", parse: "Soma", learn: "Jifunze", watch: "Angalia" },
  skip: "Nenda kwenye maudhui",
  title: {
    generate: "Tengeneza ID",
    parse: "Soma ID",
    learn: "Jinsi ID inavyofanya kazi",
    watch: "Angalia wafanyakazi",
  },
  server: {
    asking: "inaunganisha",
    serving: "inahudumu",
    waiting: "haihudumu",
    away: "haifikiki",
    closed: "inahitaji tokeni",
    worker: (datacenterId, workerId, hasDatacenter) =>
      `kama mfanyakazi ${hasDatacenter ? `${datacenterId} / ` : ""}${workerId}`,
  },
  access: {
    title: "Seva hii inauliza wewe ni nani",
    lead: "Toa tokeni ambayo seva inaijua. Kusoma, kujifunza na kutengeneza katika kivinjari havihitaji tokeni.",
    plaintext: "Ukurasa huu ulikuja bila TLS: tokeni ingepita kwenye mtandao ikisomeka na wote.",
    label: "Tokeni",
    hint: "Inabaki katika kichupo hiki, na hupotea ukurasa ukipakiwa upya.",
    wrong: "Seva haiijui tokeni hii.",
    use: "Tumia tokeni hii",
    given: "Miito inabeba tokeni yako.",
    forget: "Isahau",
  },
  brokenLink: "Kiungo kina sehemu isiyosomeka. Kilichobaki kimesomwa.",
  missing: {
    text: "Sehemu ya ukurasa huu haiwezi kupakiwa: seva haikuwepo, au ni ya toleo lingine.",
    reload: "Pakia ukurasa upya",
  },
  language: { label: "Lugha ya ukurasa", note: "Tafsiri ya Kiswahili haijasomwa na mzungumzaji asilia." },
  theme: { label: "Rangi", auto: "Otomatiki", light: "Nuru", dark: "Giza" },
  footer: (version) =>
    `Snowlane${version === undefined ? "" : ` ${version}`}. Unachoandika kwenye Soma hakitoki kwenye ukurasa huu.`,
  copy: { copy: "Nakili", done: "Imenakiliwa", refused: "Hairuhusiwi: chagua na unakili kwa mkono" },
  layout: {
    label: "Mpangilio",
    ofServer: "Wa seva hii",
    custom: "Mpangilio wako mwenyewe",
    since: (name, day) => `${name}, tangu ${day}`,
    detail: "Mwanzo au mpangilio mwingine",
    epochDate: "Mwanzo, kama tarehe (UTC)",
    epochMs: "Mwanzo, kwa milisekunde za Unix",
    ownEpoch: (day) => `Tupu: mwanzo wa mpangilio wenyewe, ${day}`,
    tick: "Kipimo cha wakati",
    bitsOf: (kind) => `Biti za ${fields[kind]}`,
    up: (kind) => `Sogeza ${fields[kind]} kushoto`,
    down: (kind) => `Sogeza ${fields[kind]} kulia`,
    fields: "Sehemu, biti za juu kwanza",
    sum: (bits) => `Biti ${bits} kati ya 63 zimetumika.`,
    problem: layoutProblem,
  },
  parse: {
    heading: "Soma ID",
    lead: "Bandika ID moja au nyingi, kwa umbo lolote: desimali, heksi, base62, nambari ya mfululizo, UUID. Hakuna kinachotoka kwenye ukurasa huu.",
    ids: "ID",
    placeholder: "1541815603606036522",
    form: "Umbo la maandishi",
    detect: "kama inavyoonekana",
    copyLink: "Nakili kiungo",
    result: "Matokeo",
    empty: "ID inasema ilitengenezwa lini na na mfanyakazi yupi. Bandika moja hapo juu, au soma mfano:",
    examples: "Mifano",
    inFuture: (span) => `baada ya ${spanWords(span)}`,
    ago: (span) => `${spanWords(span)} iliyopita`,
    local: (zone) => `ulipo (${zone})`,
    utc: "UTC",
    madeBy: (datacenterId, workerId, sequence) => {
      const worker = workerId === undefined ? "" : `ilitengenezwa na mfanyakazi ${number(workerId)}`;
      const place = datacenterId === undefined ? "" : ` wa kituo cha data ${number(datacenterId)}`;
      const order = sequence === undefined ? "" : `mfuatano ${number(sequence)}`;
      return [worker + place, order].filter((part) => part !== "").join(", ");
    },
    bits: "Biti za ID",
    bitsHint: "Elekeza kwenye sehemu, au tumia vitufe vya mishale.",
    bitRange: (name, high, low, value) =>
      `${name}: ${high === low ? `biti ${high}` : `biti ${high} hadi ${low}`}, thamani ${value}`,
    sign: "daima 0",
    unused: "haitumiki",
    fieldBits: (name, bits) => `${name}, ${bits}`,
    firstFieldBits: (name, bits) => `${name}, biti ${bits}`,
    ticks: (unit) => `${unit} tangu mwanzo`,
    tickUnits: (tickNs) =>
      tickNs === 1e6
        ? "Milisekunde"
        : tickNs === 1e9
          ? "Sekunde"
          : tickNs < 1e6
            ? `Vipimo vya µs ${tickNs / 1e3}`
            : `Vipimo vya ms ${tickNs / 1e6}`,
    datacenter: "Kituo cha data",
    worker: "Mfanyakazi",
    sequence: "Mfuatano",
    everyForm: "Katika kila umbo la maandishi",
    form_: "Umbo",
    text: "Maandishi",
    copyForm: (form) => `Nakili ${form}`,
    others: "Je, inaweza kuwa ya wengine?",
    plausible: "inawezekana",
    noOthers: "Kwa mpangilio wowote unaojulikana ID hii isingekuwa ya wakati uliopita.",
    othersNote: "Wakati pekee ndio unaoamua. Chagua mpangilio ili kuisoma hivyo.",
    readAs: (name) => `Isome kama ${name}`,
    uuid: {
      title: (version) => (version === 0 ? "UUID" : `UUID ya toleo ${version}`),
      none: "Haina ID ya mpangilio huu.",
      noTime: "Haibebi wakati.",
      variant: "Aina",
      clockSequence: "Mfuatano wa saa",
      node: "Nodi",
    },
    foreign: {
      title: (kind) =>
        ({ ulid: "ULID", ksuid: "KSUID", objectid: "ObjectId", xid: "xid", typeid: "TypeID" })[kind] ?? kind,
      note: "Kitengenezaji kingine kiliandika maandishi haya.",
    },
    refused: "Hii si ID",
    fault: (fault, position, form) => {
      const place = fault === "no_form" || fault === "future" ? "" : ` (herufi ya ${position + 1})`;
      return `${form === undefined ? "Maandishi" : `Yakisomwa kama ${form}, maandishi`} ${textFaults[fault] ?? fault}${place}.`;
    },
    ambiguous: (candidates) => `Inaweza kuwa ${candidates.join(" na ")}. Chagua umbo.`,
    outsideLayout: "Nambari hailingani na mpangilio huu: ni kubwa mno, au ina wakati baada ya mwisho wa mpangilio.",
    tooLarge: "ID iko kati ya 0 na 9,223,372,036,854,775,807.",
    many: (count, refused) =>
      `Mistari ${number(count)} imesomwa${refused === 0 ? "" : `, ambapo ${number(refused)} haina ID`}.`,
    reading: (done, count) => `Inasoma: ${number(done)} kati ya mistari ${number(count)}`,
    leftOut: (read, left) => `Mistari ${number(read)} ya kwanza imesomwa; ${number(left)} zaidi imeachwa.`,
    shortened: (shown) => `Mistari ${number(shown)} ya kwanza inaonyeshwa hapa; yote imo katika jedwali.`,
    clear: "Futa",
    downloadCsv: "Pakua CSV",
    line: "Mstari",
    id: "ID",
    time: "Wakati (UTC)",
    by: "Mfanyakazi",
    workerOf: (datacenterId, workerId) => [datacenterId, workerId].filter((part) => part !== undefined).join(" / "),
  },
  generate: {
    heading: "Tengeneza ID",
    lead: "Kutoka seva hii, za kipekee daima katika mfumo wake. Au kwa mkono katika kivinjari chako, kwa majaribio.",
    source: "Chanzo",
    fromServer: "Kutoka seva hii",
    byHand: "Katika kivinjari",
    count: "Ngapi",
    countProblem: (max) => `Andika nambari kamili kutoka 1 hadi ${number(max)}.`,
    form: "Umbo la maandishi",
    serialPrefix: "Kiambishi",
    serialPrefixHint: "0 hadi 16 za A-Z na 0-9",
    utcOffset: "Tofauti na UTC",
    utcOffsetProblem: "Andika tofauti kama +03:00, kutoka -18:00 hadi +18:00.",
    checkSymbol: "Alama ya ukaguzi mwishoni",
    typePrefix: "Aina",
    typePrefixHint: "Herufi ya a-z, kisha 0 hadi 15 za a-z na 0-9",
    generate: "Tengeneza",
    cancel: "Ghairi",
    progress: (done, count) => `${number(done)} kati ya ${number(count)}`,
    rate: (perSecond) => `ID ${number(Math.round(perSecond))} kwa sekunde`,
    took: (count, ms) => `ID ${number(count)} kwa ms ${ms < 10 ? ms.toFixed(1) : number(Math.round(ms))}.`,
    above: (shownMax) => `Zaidi ya ${number(shownMax)} unapata faili.`,
    first: "Bonyeza Tengeneza upate ID ambayo hakuna mwingine atakayeipata kutoka mfumo huu.",
    copy: "Nakili",
    copyAll: "Nakili zote",
    readIt: "Isome",
    download: "Pakua",
    ready: (count) => `ID ${number(count)}, tayari kupakuliwa`,
    cancelled: (count) => `Imeghairiwa. ID ${number(count)} zilikuwa zimefika, na ni zako.`,
    failed: "Hakuna ID iliyofika",
    result: "Matokeo",
    ids: "ID zenyewe",
    failure: ({ reason, message, permission }) =>
      permission === undefined
        ? (failures[reason] ?? message)
        : `Huna ruhusa ya ${permission}. Mwombe msimamizi ruhusa hiyo.`,
    code: "Vivyo hivyo kwa programu",
    language: "Lugha ya programu",
    codeNote: "Programu za wateja zimo katika folda clients ya hazina.",
    copyCode: "Nakili programu",
    warning:
      "Imetengenezwa kwa mkono: hakuna kinachoifanya ya kipekee. Wawili wakiandika nambari zilezile hupata ID ileile.",
    time: "Wakati",
    timeHint: "UTC, au milisekunde za Unix",
    now: "Sasa",
    handCountHint: "ID zaidi huchukua nambari za mfuatano zinazofuata, kisha kipimo kinachofuata.",
    partProblem,
    range: (max) => `0 hadi ${number(max)}`,
    noField: "Mpangilio huu hauna sehemu hii.",
    fix: "Sahihisha sehemu zilizowekewa alama, kisha ID itaonekana hapa.",
  },
  learn: {
    heading: "Jinsi ID inavyofanya kazi",
    lead: "ID ya Snowflake ni nambari moja kamili ya biti 63 au chini. Inasema ilitengenezwa lini na na mfanyakazi yupi, na hupangika kwa wakati.",
    parts: "Sehemu za",
    time: (time, epoch) =>
      `ID ilitengenezwa: ${time} (UTC), ukihesabu tangu mwanzo wa mpangilio, ${epoch}. Iko juu kabisa, hivyo ID hupangika kwa wakati.`,
    fieldTexts: {
      datacenter:
        "Kundi la wafanyakazi. Vituo viwili havishiriki nambari ya mfanyakazi, hivyo hufanya kazi kila kimoja peke yake.",
      worker: "Mchakato ulioitengeneza. Michakato miwili isiwe na nambari moja ya mfanyakazi kwa wakati mmoja.",
      sequence: "Nafasi kati ya ID ambazo mfanyakazi huyu alitengeneza katika kipimo kimoja cha wakati.",
    },
    steps: "Jinsi inavyotengenezwa, hatua kwa hatua",
    sum: "ID yenyewe",
    calculator: "Mpangilio unabeba nini",
    until: "Inadumu hadi",
    yearsLeft: "Miaka iliyobaki",
    workerIds: "Nambari za wafanyakazi",
    perWorker: "ID kwa sekunde, kila mfanyakazi",
    all: "ID kwa sekunde, wafanyakazi wote",
    highest: "ID kubwa kabisa",
    calculatorNote:
      "Chagua mpangilio mwingine hapo juu, au wako mwenyewe: biti zaidi kwa sehemu moja ni pungufu kwa nyingine.",
    program: "Tengeneza na soma ID hizi katika programu",
    programNote:
      "Ina mpangilio uliochaguliwa hapo juu, haipotezi tarakimu zaidi ya 2^53, na hukataa nambari zilizo nje ya mipaka. Haizuii michakato miwili kuwa na nambari moja ya mfanyakazi: hiyo ni kazi ya seva.",
    limits: {
      title: "Mipaka",
      texts: [
        ["Inaisha.", "Biti 41 za milisekunde hudumu miaka 69. Kwa mwanzo wa Twitter ni tarehe 10 Julai 2080."],
        ["Si siri.", "Yeyote anaweza kusoma ilitengenezwa lini na na mfanyakazi yupi, na kukisia jirani zake."],
        [
          "Inahitaji nambari za wafanyakazi.",
          "Michakato miwili yenye nambari moja hurudia. Snowlane hutoa kila nambari mara moja kwa wakati, na kuiandika katika hifadhi.",
        ],
        ["Wakati ni sahihi kama saa tu.", "Saa mbaya huweka wakati mbaya katika ID. Hapa haisababishi kamwe kurudia."],
      ],
    },
    edges: {
      title: "Hali za pekee",
      texts: [
        [
          "2^53 ya JavaScript.",
          "Nambari zaidi ya 9,007,199,254,740,991 hupoteza tarakimu. Beba ID kama maandishi katika JSON, na kama BigInt katika programu.",
        ],
        [
          "Saa iliyorudishwa nyuma.",
          "Vitengenezaji rahisi hurudia ID au husimama. Snowlane huendelea kutoka wakati wa mwisho ilioutumia.",
        ],
        [
          "Kipimo cha wakati kilichojaa.",
          "Baada ya ID 4,096 katika milisekunde moja mfanyakazi husubiri inayofuata, au hutangulia kidogo.",
        ],
        [
          "Zimepangika, lakini si kwa ukamilifu.",
          "ID za mfanyakazi mmoja hupanda. Za wafanyakazi tofauti hupangika kwa kadiri ya tofauti ya saa zao.",
        ],
        ["Biti ya kwanza.", "Hubaki 0, ili nambari iwe chanya popote nambari zina alama."],
      ],
    },
    alternatives: {
      title: "Njia nyingine",
      columns: ["Aina", "Ukubwa", "Hupangika kwa wakati", "Huhitaji", "Huonyesha"],
      rows: [
        ["Snowflake", "baiti 8", "ndiyo", "nambari za wafanyakazi", "wakati na mfanyakazi"],
        ["UUID v4", "baiti 16", "hapana", "hakuna", "hakuna"],
        ["UUID v7", "baiti 16", "ndiyo", "hakuna", "wakati"],
        ["ULID", "baiti 16, herufi 26", "ndiyo", "hakuna", "wakati"],
        [
          "Kuongeza otomatiki",
          "baiti 4 au 8",
          "ndiyo, katika jedwali moja",
          "hifadhidata moja kwa kila ID",
          "ni ngapi zilizopo",
        ],
      ],
    },
    history: {
      title: "Historia",
      texts: [
        [
          "2010.",
          "Twitter iliacha MySQL moja na kuchapisha Snowflake: biti 41 za wakati, 10 za mfanyakazi, 12 za mfuatano.",
        ],
        ["2012.", "Instagram ilitengeneza ID zake ndani ya PostgreSQL, shadi ikiwa mahali pa mfanyakazi."],
        ["2014.", "Sonyflake ilichukua vipimo vya ms 10, ili idumu zaidi na kubeba wafanyakazi wengi zaidi."],
        ["2015.", "Discord ilianza na upana wa Twitter tangu sekunde ya kwanza ya mwaka."],
        ["2024.", "RFC 9562 iliifanya UUID v7 kuwa kiwango: wakati mbele, kama hapa, na biti za bahati nyuma yake."],
      ],
    },
    references: {
      title: "Marejeo",
      announcement: "Twitter yatangaza Snowflake (2010)",
      source: "Msimbo wa Snowflake (2010)",
      discord: "Discord: Snowflakes",
      instagram: "Instagram: shadi na ID",
      uuid: "RFC 9562: UUID",
    },
  },
  watch: {
    heading: "Angalia wafanyakazi",
    lead: "Seva hii sekunde kwa sekunde, na kila nambari ya mfanyakazi ya mfumo wake, kichupo hiki kikionekana.",
    failed: "Seva haisemi.",
    notServing: (reason) => `Seva hii haitoi ID sasa. ${failures[reason as Failure["reason"]] ?? reason}`,
    quarantine: (until, reason) =>
      `Hakuna nambari ya mfanyakazi itakayotolewa hadi ${until} (UTC)${reason === "" ? "." : `: ${reason}`} Seva zenye nambari zinaendelea.`,
    server: "Seva hii",
    version: (version) => `toleo ${version}`,
    worker: "Nambari yake ya mfanyakazi",
    workerOf: (datacenterId, workerId, hasDatacenter) =>
      hasDatacenter ? `${datacenterId} / ${workerId}` : String(workerId),
    held: "Nambari zinazotumika",
    of: (count, all) => `${number(count)} kati ya ${number(all)}`,
    free: (count) => `${number(count)} zinaweza kutolewa sasa`,
    window: "Muda uliohifadhiwa",
    windowNote: "Inaweza kuendelea hivi bila hifadhi",
    leadTime: "ID mbele ya saa",
    leadNote: "Hukua miito ikizidi",
    store: "Hifadhi",
    storeState: (isReachable, answerAgeMs, clockAheadMs) =>
      [
        isReachable ? "" : "haifikiki",
        answerAgeMs === undefined
          ? "haijawahi kujibu"
          : `ilijibu sekunde ${(answerAgeMs / 1_000).toFixed(1)} zilizopita`,
        clockAheadMs === undefined
          ? ""
          : `saa yake ms ${clockAheadMs >= 0 ? "+" : "−"}${number(Math.abs(Math.round(clockAheadMs)))}`,
      ]
        .filter((part) => part !== "")
        .join(", "),
    started: (span) => `imewashwa kwa ${spanWords(span)}`,
    load: (connections, waiting) =>
      `miunganisho ${number(connections)}${waiting === 0 ? "" : `, miito ${number(waiting)} inasubiri`}`,
    granted: (generation, since) => `tangu ${since}, kizazi ${number(generation)}`,
    milliseconds: (ms) => `${ms < 10 ? ms.toFixed(1) : number(Math.round(ms))} ms`,
    charts: "Dakika zilizopita",
    span: "Nyuma kiasi gani",
    minutes: (count) => `dak. ${count}`,
    pause: "Sitisha",
    goOn: "Endelea",
    asTable: "Vivyo hivyo kwa nambari",
    chartColumns: ["Kipimo", "Sasa", "Ndogo", "Wastani", "Kubwa"],
    chart: {
      ids: "ID kwa sekunde",
      calls: "Miito kwa sekunde",
      latency: "Muda wa mwito, p50 na p99",
      errors: "Makosa kwa sekunde",
      lead: "ID mbele ya saa",
      window: "Muda uliohifadhiwa",
    },
    measure: (name: ChartName, value: number | undefined) => {
      if (value === undefined) return "–";
      const rounded = value < 10 ? Number(value.toFixed(2)) : Math.round(value);
      const unit = name === "latency" || name === "lead" ? " ms" : name === "window" ? " s" : "";
      return `${number(rounded)}${unit}`;
    },
    sequences: "Mifuatano",
    noSequences: "Bado hakuna mfuatano. Tengeneza mmoja: snowlane sequences create NAME.",
    sequenceColumns: ["Jina", "Inayofuata", "Zilizobaki", "Maandishi"],
    disabled: "umezimwa",
    noneLeft: "hakuna",
    seconds: (ms) => `${(ms / 1_000).toFixed(1)} s`,
    layout: "Mpangilio",
    until: (day) => `hadi ${day}`,
    rollback: "Saa yake ikirudishwa nyuma",
    workers: "Wafanyakazi",
    find: "Tafuta",
    findHint: "Mwenyeji, jina, toleo au nambari",
    state: "Hali",
    all: "zote",
    found: (count, all, max) =>
      all === 0
        ? "Hakuna nambari ya mfanyakazi iliyowahi kutumika."
        : `Nambari ${number(count)} kati ya ${number(all)} zilizowahi kutumika.${count > max ? ` ${number(max)} za kwanza zinaonyeshwa.` : ""}`,
    columns: ["Mfanyakazi", "Hali", "Mwenyeji", "Mchakato ulianza", "Muda uliobaki", "Alama (UTC)"],
    states: {
      held: "inatumika",
      released: "imerudishwa",
      expired: "imeisha muda",
      quarantined: "katika karantini",
      unreadable: "haisomeki",
    },
    own: "seva hii",
    freeAt: (time) => `huru kuanzia ${time}`,
    ago: (span) => `${spanWords(span)} iliyopita`,
  },
};
