import { groupDigits as number } from "../../../src/text/group-digits.ts";
import type { ChartName } from "../chart-data.ts";
import { type FailureWords, failureWords } from "../failure.ts";
import type { PartProblem, TimeReading } from "../hand-ids.ts";
import type { LayoutProblem } from "../layout-choice.ts";
import { shortSpan, type ShortUnit, type Span, type SpanUnit } from "../time-words.ts";
import type { Texts } from "./en.ts";

/** Swahili, translated without a native reader. */

const unitWords: Readonly<Record<SpanUnit, readonly [one: string, many: string]>> = {
  year: ["mwaka", "miaka"],
  day: ["siku", "siku"],
  hour: ["saa", "saa"],
  minute: ["dakika", "dakika"],
  second: ["sekunde", "sekunde"],
};
const spanWords = ({ large, small }: Span): string => {
  const [first = "", second] = [large, small].map(
    (part) => part && `${unitWords[part.unit][part.count === 1 ? 0 : 1]} ${number(part.count)}`,
  );
  return second === undefined ? first : `${first} na ${second}`;
};

const agoWords = (span: Span): string => {
  const { unit, count } = span.small ?? span.large;
  const past = unit === "year" ? ["uliopita", "iliyopita"] : ["iliyopita", "zilizopita"];
  return `${spanWords(span)} ${past[count === 1 ? 0 : 1]}`;
};
const shortUnits: Readonly<Record<ShortUnit, string>> = { ms: "ms", s: "s", min: "dak", h: "saa", d: "siku" };

const fields: Texts["fields"] = {
  timestamp: "muda",
  datacenter: "kituo cha data",
  worker: "nodi",
  sequence: "mfululizo",
};

const textFaults: Readonly<Record<string, string>> = {
  character: "yana herufi isiyoruhusiwa hapo",
  too_short: "yanaisha mapema mno",
  too_long: "yanaendelea pale yanapopaswa kuisha",
  leading_zero: "yanaanza na sifuri isiyopaswa kuwepo",
  out_of_range: "yana nambari kubwa mno kwa ID",
  check_symbol: "yanaisha na alama ya ukaguzi isiyolingana na herufi nyingine: huenda herufi moja imekosewa",
  date: "yana tarehe au saa isiyokuwepo",
  tick: "yana wakati ambao muundo huu hauwezi kuuonyesha",
  prefix: "yana kiambishi awali kilichokosewa",
  no_form: "hayafanani na ID yoyote ambayo ukurasa huu unaitambua",
  future: "yangekuwa ID ya wakati ujao, au ya muundo mwingine",
};

const failures: FailureWords = {
  UNREACHABLE: "Seva haijibu. Bado unaweza kuchambua, na kuzalisha katika kivinjari, bila seva.",
  UNAUTHENTICATED: "Seva inahitaji tokeni: iweke hapo juu.",
  DENIED: "Huna ruhusa ya kufanya hivi. Mwombe msimamizi ruhusa.",
  MISSING_CREDENTIALS: "Seva inahitaji tokeni: iweke hapo juu.",
  METHOD_DENIED: "Huna ruhusa ya kufanya hivi. Mwombe msimamizi ruhusa.",
  COUNT_OUT_OF_RANGE: "Seva haitoi ID nyingi hivyo kwa mara moja. Omba chache zaidi.",
  BURST_EXCEEDED: "Seva imefika kikomo kwa sasa. Jaribu tena baada ya sekunde moja.",
  STORE_UNAVAILABLE: "Seva haiwezi kufikia hifadhi yake. Inajaribu tena yenyewe.",
  WINDOW_EXPIRED: "Seva haikuweza kutenga muda katika hifadhi yake. Inajaribu tena yenyewe.",
  WORKER_LEASE_LOST: "Seva haina kitambulisho cha nodi kwa sasa, na inatafuta kimoja. Jaribu tena baada ya muda mfupi.",
  CLOCK_ROLLED_BACK: "Saa ya seva ilirudishwa nyuma. Seva inasubiri hadi saa ifikie pale ilipokuwa.",
  SHUTTING_DOWN: "Seva inazimwa. Jaribu tena itakapowashwa.",
  QUOTA_EXCEEDED: "Mgao wako umeisha kwa sasa. Jaribu tena baadaye.",
  CLOCK_BEFORE_EPOCH: "Saa ya seva iko kabla ya enzi ya muundo wake.",
  TIMESTAMP_EXHAUSTED: "Muda wa muundo umeisha: hauwezi kubeba wakati wa baadaye.",
  STORE_WENT_BACK: "Hifadhi imepoteza sehemu ya data, kama baada ya kurejeshwa.",
  HOST_NOT_ALLOWED: "Seva haijibu kwa jina hili la mwenyeji.",
  INVALID_TEXT_FORMAT: "Seva haiwezi kuandika umbizo hili la maandishi.",
  STREAM_STALLED: "Seva imekatisha mtiririko, kwa sababu ukurasa haukupokea chochote kwa muda. Jaribu tena.",
  NO_FREE_WORKER_ID: "Vitambulisho vyote vya nodi vinatumika. Seva inasubiri kimoja kiwe huru.",
  LAYOUT_MISMATCH: "Hifadhi hii ni ya mfumo wenye muundo mwingine.",
  OTHER: "Seva inasema:",
};

/** What a time that was typed was read as; a date says that itself. */
const unixUnits: Readonly<Record<TimeReading["kind"], string>> = {
  now: "",
  date: "",
  s: "Sekunde za Unix: ",
  ms: "Milisekunde za Unix: ",
  us: "Mikrosekunde za Unix: ",
  ns: "Nanosekunde za Unix: ",
};

const partProblem = (problem: PartProblem): string => {
  switch (problem.kind) {
    case "not-whole":
      return `Andika nambari kamili kutoka ${number(problem.min)} hadi ${number(problem.max)}.`;
    case "range":
      return `Katika muundo huu sehemu hii ni ${number(problem.min)} hadi ${number(problem.max)}.`;
    case "unreadable-time":
      return "Andika wakati kama 2026-01-31 12:00:00.000 (UTC), au milisekunde za Unix.";
    case "before-epoch":
      return `Kabla ya enzi ya muundo, ${problem.limit}: hakuna ID inayoweza kubeba wakati huu.`;
    case "after-end":
      return `Baada ya mwisho wa muundo, ${problem.limit}: hakuna ID inayoweza kubeba wakati huu.`;
  }
};

const layoutProblem = (problem: LayoutProblem): string => {
  switch (problem.kind) {
    case "date":
      return "Andika tarehe kama 2020-01-01.";
    case "milliseconds":
      return "Andika milisekunde za Unix, kama 1577836800000.";
    case "future":
      return "Enzi hii iko katika wakati ujao: hakuna ID inayoweza kuzalishwa kabla yake.";
    case "range":
      return "Enzi iwe kati ya mwaka 1 na mwaka 9999.";
    case "bits":
      return "Sehemu iwe na biti 0 hadi 32; muda uwe na biti 1 hadi 62.";
    case "sum":
      return `Sehemu zinachukua biti ${problem.bits}. Zisizidi 63, kwa sababu biti ya kwanza hubaki 0.`;
    case "identity":
      return `Kituo cha data na nodi vinachukua biti ${problem.bits}. Zisizidi 32.`;
    case "timestamp":
      return "ID inahitaji angalau biti moja ya muda.";
  }
};

const forms: Texts["forms"] = {
  decimal: "desimali",
  hex: "heksadesimali",
  base32: "base32",
  base58: "base58",
  base62: "base62",
  serial: "nambari ya serial",
  uuid: "UUID",
  typed: "ID yenye aina",
};

/** All Swahili texts of the page, by the same keys as the English ones. */
export const sw: Texts = {
  locale: "sw",
  number,
  fields,
  forms,
  nav: { label: "Kurasa", generate: "Zalisha", parse: "Chambua", learn: "Jifunze", watch: "Fuatilia", proof: "Jaribu" },
  skip: "Nenda kwenye maudhui",
  title: {
    generate: "Zalisha ID",
    parse: "Chambua ID",
    learn: "Jinsi ID inavyofanya kazi",
    watch: "Fuatilia nodi",
    proof: "Jaribu itifaki",
  },
  about: {
    sentence: "Snowlane ni huduma inayotoa ID za kipekee za biti 64, zinazopangika kwa wakati.",
    learn: "Jinsi ID hii inavyofanya kazi",
    links: { docs: "Nyaraka", api: "API", source: "Msimbo", changes: "Mabadiliko", licence: "Leseni" },
  },
  server: {
    asking: "inaunganisha",
    serving: "inahudumu",
    waiting: "haihudumu",
    away: "haifikiki",
    closed: "inahitaji tokeni",
    none: "bila seva",
    worker: (datacenterId, workerId, hasDatacenter) =>
      `kama nodi ${hasDatacenter ? `${datacenterId} / ` : ""}${workerId}`,
  },
  access: {
    title: "Seva hii inahitaji ujitambulishe",
    lead: "Weka tokeni ambayo seva inaitambua. Chambua, Jifunze na kuzalisha katika kivinjari havihitaji tokeni.",
    plaintext:
      "Ukurasa huu umepakiwa bila TLS: tokeni itapita kwenye mtandao bila kusimbwa, na yeyote anaweza kuisoma.",
    label: "Tokeni",
    hint: "Inabaki katika kichupo hiki, na hupotea ukurasa ukipakiwa upya.",
    wrong: "Seva haiitambui tokeni hii.",
    use: "Tumia tokeni hii",
    given: "Tokeni yako hutumwa na kila ombi.",
    forget: "Iondoe",
  },
  brokenLink: "Kiungo kina sehemu isiyosomeka. Sehemu zilizobaki zimesomwa.",
  missing: {
    text: "Sehemu ya ukurasa huu haiwezi kupakiwa: seva haikufikika, au sasa ni ya toleo lingine.",
    reload: "Pakia ukurasa upya",
  },
  language: { label: "Lugha ya ukurasa", note: "Tafsiri ya Kiswahili bado haijahakikiwa na mzungumzaji asilia." },
  theme: { label: "Rangi", auto: "Kiotomatiki", light: "Mwangaza", dark: "Giza" },
  footer: (version) =>
    `Snowlane${version === undefined ? "" : ` ${version}`}. Unachoandika kwenye Chambua hakitoki kwenye ukurasa huu.`,
  copy: { copy: "Nakili", done: "Imenakiliwa", refused: "Haikuruhusiwa: chagua na unakili mwenyewe" },
  layout: {
    label: "Muundo",
    ofServer: "Wa seva hii",
    guess: "Unaowezekana zaidi kwa kila ID",
    custom: "Muundo wako mwenyewe",
    since: (name, day) => `${name}, tangu ${day}`,
    ended: (day) => `, uliisha ${day}`,
    detail: "Badilisha enzi au muundo",
    epochDate: "Enzi, kama tarehe (UTC)",
    epochMs: "Enzi, kwa milisekunde za Unix",
    ownEpoch: (day) => `Ikiachwa tupu: enzi ya muundo wenyewe, ${day}`,
    tick: "Kizio cha muda",
    bitsOf: (kind) => `Biti za ${fields[kind]}`,
    up: (kind) => `Sogeza ${fields[kind]} kushoto`,
    down: (kind) => `Sogeza ${fields[kind]} kulia`,
    fields: "Sehemu, biti za juu kwanza",
    sum: (bits) => `Biti ${bits} kati ya 63 zimetumika.`,
    problem: layoutProblem,
  },
  parse: {
    heading: "Bandika chochote chenye ID",
    lead: "JSON, logi, matokeo ya SQL, viungo, safuwima ya jedwali. ID hutafutwa na kusomwa hapa; hakuna kinachotoka kwenye ukurasa huu.",
    ids: "Maandishi yenye ID",
    placeholder: "1541815603606036522",
    form: "Umbizo la maandishi",
    detect: "tambua kiotomatiki",
    copyLink: "Nakili kiungo",
    result: "Matokeo",
    empty: "ID huonyesha wakati ilipozalishwa, pamoja na nodi iliyoizalisha. Bandika moja hapo juu, au jaribu mfano:",
    examples: "Mifano",
    inFuture: (span) => `baada ya ${spanWords(span)}`,
    ago: agoWords,
    local: (zone) => `saa za ulipo (${zone})`,
    utc: "UTC",
    madeBy: (datacenterId, workerId, sequence) => {
      const worker = workerId === undefined ? "" : `nodi ${number(workerId)}`;
      const place = datacenterId === undefined ? "" : `kituo cha data ${number(datacenterId)}`;
      const order = sequence === undefined ? "" : `mfululizo ${number(sequence)}`;
      const maker = [worker, place].filter((part) => part !== "").join(" ya ");
      return [maker === "" ? "" : `ilizalishwa na ${maker}`, order].filter((part) => part !== "").join(", ");
    },
    bits: "Biti za ID",
    bitsHint: "Elekeza kwenye sehemu, au tumia vitufe vya mishale.",
    bitRange: (name, high, low, value) =>
      `${name}: ${high === low ? `biti ${high}` : `biti ${high} hadi ${low}`}, thamani ${value}`,
    sign: "daima 0",
    unused: "hazitumiki",
    fieldBits: (name, bits) => `${name}, ${bits}`,
    firstFieldBits: (name, bits) => `${name}, biti ${bits}`,
    ticks: (unit) => `${unit} tangu enzi`,
    tickUnits: (tickNs) =>
      tickNs === 1e6
        ? "Milisekunde"
        : tickNs === 1e9
          ? "Sekunde"
          : tickNs < 1e6
            ? `Vizio vya µs ${tickNs / 1e3}`
            : `Vizio vya ms ${tickNs / 1e6}`,
    datacenter: "Kituo cha data",
    worker: "Nodi",
    sequence: "Mfululizo",
    everyForm: "Maumbizo ya maandishi",
    others: "Mfumo ulioizalisha",
    noOthers: "Hakuna muundo unaojulikana unaoipa ID hii wakati uliopita.",
    othersNote: "Nambari haiwezi kutaja muundo wake. Chaguo linahusu ID zote za maandishi.",
    readAs: (name) => `Isome kama ${name}`,
    unixTime: (time) => `Huu ni muda wa Unix, ${time}; huenda si ID.`,
    notYet: "ID ya muundo huu haiwezi kutoka wakati ujao, kwa hiyo ni ya muundo mwingine.",
    ended: (day) => `Muundo huu uliisha ${day}: hakuna ID mpya inayoweza kuwa yake.`,
    uuid: {
      title: (version) => (version === 0 ? "UUID" : `UUID ya toleo ${version}`),
      none: "Haina ID ya muundo huu.",
      noTime: "Haina wakati ndani yake.",
      variant: "Lahaja",
      clockSequence: "Mfululizo wa saa",
      node: "Nodi",
    },
    foreign: {
      title: (kind) =>
        ({ ulid: "ULID", ksuid: "KSUID", objectid: "ObjectId", xid: "xid", typeid: "TypeID" })[kind] ?? kind,
      note: "Maandishi haya yameandikwa na kizalishaji kingine.",
    },
    refused: "Hii si ID",
    lookedFor:
      "Ukurasa hutafuta nambari za tarakimu 14 hadi 19, heksadesimali yenye 0x, UUID, ULID, KSUID, ObjectId, xid na TypeID.",
    fault: (fault, position, form) => {
      const place = fault === "no_form" || fault === "future" ? "" : ` (herufi ya ${position + 1})`;
      return `${form === undefined ? "Maandishi" : `Yakisomwa kama ${form}, maandishi`} ${textFaults[fault] ?? fault}${place}.`;
    },
    ambiguous: (candidates) => `Inaweza kuwa ${candidates.join(" au ")}. Chagua umbizo.`,
    outsideLayout: "Nambari hailingani na muundo huu: ni kubwa mno, au ina wakati unaopita mwisho wa muundo.",
    tooLarge: "ID iko kati ya 0 na 9,223,372,036,854,775,807.",
    many: (count, refused) =>
      `Mistari ${number(count)} imesomwa${refused === 0 ? "" : `, na kati yake ${number(refused)} haina ID`}.`,
    reading: (done, count) => `Inachambua: ${number(done)} kati ya mistari ${number(count)}`,
    leftOut: (read, left) => `Mistari ${number(read)} ya kwanza imesomwa; ${number(left)} iliyobaki imeachwa.`,
    shortened: "Mwanzo tu wa maandishi unaonyeshwa hapa; yote yamo katika jedwali.",
    clear: "Futa",
    downloadCsv: "Pakua CSV",
    by: "Nodi",
    workerOf: (datacenterId, workerId) => [datacenterId, workerId].filter((part) => part !== undefined).join(" / "),
    found: "Zilizopatikana",
    readWhole: "Imesomwa kama ID moja",
    foundCount: (ids, times) =>
      `ID ${number(ids)} ${ids === 1 ? "imepatikana" : "zimepatikana"}${times === 0 ? "" : `, na muda wa Unix ${number(times)}`}`,
    moreFound: (count) => `ID nyingine ${number(count)} ziko katika jedwali.`,
    foundKeys: "Vitufe vya mishale husogeza, Enter hunakili ID, Delete huiacha.",
    leaveOut: (place) => `Acha ya ${number(place)}`,
    takeBack: (count) => `Zilizoachwa ${number(count)}: zirudishe`,
    noId: "si ID",
    exampleLog: "Jaribu logi",
    linkTooLong: "Ni ndefu mno kwa kiungo",
    badges: { rounded: "imekadiriwa", unsigned: "biti 64" },
    notes: {
      rounded:
        "Lahajedwali au kichanganuzi cha JSON kiliikadiria nambari hii. Wakati ni sahihi; nodi huenda si sahihi, mfululizo umepotea.",
      negative: "Biti 63 ni 1, hivyo nambari yenye ishara ni hasi: hakuna muundo hapa unaoiweka.",
      "above-63-bits": "Biti 63 ni 1: hakuna muundo hapa unaoiweka.",
      padded: "Kuna sifuri mbele ya nambari. Zimeachwa.",
    },
    holdsTime: (time) => `Maandishi yana muda wa Unix: ${time}.`,
    sixtyFourBits: { title: "Biti zote 64", signed: "yenye ishara", unsigned: "bila ishara" },
    times: {
      title: "Wakati",
      local: "Wa hapa",
      utc: "UTC",
      iso: "ISO 8601",
      unixMs: "Unix ms",
      unixS: "Unix s",
      sinceEpoch: "Tangu enzi",
    },
    moreFit: (count) => `Mingine ${number(count)} inafaa`,
    backToBest: "Soma kila ID kwa muundo unaowezekana zaidi",
    yourChoice: "Chaguo lako kwa ID zote za maandishi.",
    bestGuess: "Unaowezekana zaidi.",
    bestGuessBecause: (reason) => `Unaowezekana zaidi: ${reason}.`,
    reasons: {
      maker: "maandishi yanautaja mfumo huo",
      own: "seva hii huzalisha ID za aina hii",
      together: "unafaa zaidi kwa ID zote za maandishi",
      recent: "ID ingekuwa ya siku 90 zilizopita",
      "low-sequence": "mfululizo ni mdogo, kama katika ID nyingi",
      known: "ID nyingi ni za muundo huu",
    },
    range: {
      title: "ID za wakati uleule",
      unit: "Kipindi",
      units: { minute: "dakika", hour: "saa", day: "siku" },
      column: "Safuwima",
      copy: "Nakili ulizo",
      span: (from, to) => `${from} hadi ${to} UTC, pamoja na ID zote mbili.`,
      firstFilter: "Sehemu nyingine iko juu ya wakati, kwa hiyo ID za nyakati nyingine pia zimo katikati.",
      none: "Muundo hauna ID katika kipindi hiki.",
    },
    difference: {
      title: "Tofauti",
      with: "Na",
      time: "Wakati",
      same: "Sawa",
      number: "Nambari",
      none: "Bandika ID ya pili ili kuona muda kati ya hizo mbili, na kama nodi moja ilizizalisha zote.",
      span: (span, ms) => (ms < 1_000 ? `ms ${ms}` : `${spanWords(span)} (ms ${number(ms)})`),
      later: (span) => `${span} baadaye`,
      earlier: (span) => `${span} mapema`,
      sameTime: "uleule",
      noField: "hakuna sehemu",
      otherLayout: "Kila moja inasomwa kwa muundo wake.",
    },
    list: {
      title: "Kama orodha",
      ids: "ID",
      different: (count) => `${number(count)} tofauti`,
      copies: "Nakala",
      copiesNote: "kila nakala baada ya ya kwanza",
      breaks: "Zisizo kwa mpangilio",
      upTo: (ms) => `hadi ${shortSpan(ms, shortUnits)}`,
      rate: "Kasi",
      perSecond: (rate) => `${rate < 10 ? Number(rate.toFixed(2)) : number(Math.round(rate))} kwa sekunde`,
      peak: (count, time) => `kilele ${number(count)} kwa sekunde, ${time}`,
      gap: "Pengo refu zaidi",
      length: (ms) => shortSpan(ms, shortUnits),
      from: (time) => `kuanzia ${time}`,
      workers: "Nodi",
      span: (from, to) => `${from} hadi ${to}`,
      timeline: "ID kwa kila nodi",
      timelineSays: (workers) => `ID za nodi ${number(workers)} kwa wakati. Jedwali hapa chini lina kila moja.`,
      binNote: (ms) => `ID katika ${shortSpan(ms, shortUnits)}`,
      moreWorkers: (count) => `nodi nyingine ${number(count)} katika jedwali`,
      zoomHint: "Bonyeza sehemu ya muda ili kuikuza.",
      zoomTo: (from, to, count) => `${from} hadi ${to}: ID ${number(count)}`,
      zoomed: (from, to) => `Hapa na katika jedwali: ${from} hadi ${to} (UTC).`,
      zoomOut: "Onyesha muda wote",
      copy: "nakala",
      break: "nje ya mpangilio",
      rows: "Safu",
      all: "Zote",
      odd: (count) => `Zenye kasoro tu (${number(count)})`,
      slack: "Nje ya mpangilio kuanzia",
      slackOf: (seconds) => `s ${seconds}`,
      filter: "Chuja",
      filterHint: "Nodi, kama “worker 3”, au sehemu ya ID au ya wakati",
      columns: {
        row: "Safu",
        id: "ID",
        time: "Muda (UTC)",
        worker: "Nodi",
        sequence: "Mfululizo",
        gap: "Baada ya safu iliyotangulia",
      },
      after: (ms) => `${ms < 0 ? "−" : "+"}${shortSpan(Math.abs(ms), shortUnits)}`,
    },
  },
  generate: {
    heading: "Zalisha ID",
    lead: {
      server: "Kutoka seva hii. Hakuna mwombaji mwingine wa mfumo wake anayepata ID hiyohiyo.",
      hand: "Katika kivinjari chako, kwa majaribio na mifano.",
    },
    source: "Chanzo",
    fromServer: "Kutoka seva hii",
    byHand: "Katika kivinjari",
    count: "Idadi",
    countProblem: (max) => `Andika nambari kamili kutoka 1 hadi ${number(max)}.`,
    form: "Umbizo la maandishi",
    serialPrefix: "Kiambishi awali",
    serialPrefixHint: "Herufi 0 hadi 16 za A-Z na 0-9",
    utcOffset: "Tofauti na UTC",
    utcOffsetProblem: "Andika tofauti kama +03:00, kutoka -18:00 hadi +18:00.",
    checkSymbol: "Alama ya ukaguzi mwishoni",
    typePrefix: "Aina",
    typePrefixHint: "Herufi ya a-z, kisha 0 hadi 15 za a-z na 0-9",
    generate: "Zalisha",
    cancel: "Ghairi",
    progress: (done, count) => `${number(done)} kati ya ${number(count)}`,
    rate: (perSecond) => `ID ${number(Math.round(perSecond))} kwa sekunde`,
    took: (count, ms) => `ID ${number(count)} ndani ya ms ${ms < 10 ? ms.toFixed(1) : number(Math.round(ms))}.`,
    above: (shownMax) => `Zikizidi ${number(shownMax)} unapata faili.`,
    first: "Bonyeza Zalisha upate ID ambayo hakuna mwingine atakayeipata kamwe katika mfumo huu.",
    copy: "Nakili",
    copyAll: "Nakili zote",
    readIt: "Ichambue",
    download: "Pakua",
    ready: (count) => `ID ${number(count)}, tayari kupakuliwa`,
    cancelled: (count) => `Imeghairiwa. Unaweza kutumia ID zilizofika: ${number(count)}.`,
    failed: "Hakuna ID iliyopatikana",
    result: "Matokeo",
    ids: "ID zilizozalishwa",
    failure: ({ reason, message, permission }) =>
      permission === undefined
        ? failureWords(failures, reason, message)
        : `Huna ruhusa ya ${permission}. Mwombe msimamizi ruhusa hiyo.`,
    code: "Vivyo hivyo kwa msimbo",
    language: "Lugha ya programu",
    codeNote:
      "Kwa ID nyingi tumia programu teja, katika folda ya clients ya hazina ya msimbo: huweka ID tayari na huvuka kukatika kwa huduma.",
    codeMost: (max) => `Ombi moja huleta ID zisizozidi ${number(max)}. Programu teja hupata zaidi.`,
    codeToken: (name) => `Msimbo husoma tokeni kutoka kigeu ${name}.`,
    handCodeNote: "Hutoa ID ya kwanza kama nambari.",
    copyCode: "Nakili msimbo",
    warning:
      "Imezalishwa kwa mkono: hakuna kinachohakikisha kuwa ni ya kipekee. Watu wawili wakiandika nambari zilezile hupata ID ileile.",
    time: "Muda",
    timeHint: "Tupu kwa sasa; ISO 8601 na tofauti yoyote; au muda wa Unix",
    timeRead: (kind, iso) => `${unixUnits[kind]}${iso}`,
    now: "Sasa",
    handCountHint: "ID zaidi huchukua nambari za mfululizo zinazofuata, kisha kizio cha muda kinachofuata.",
    partProblem,
    range: (max) => `0 hadi ${number(max)}`,
    noServer: "Tovuti hii haina seva, kwa hiyo ID huzalishwa kwa mkono tu.",
    firstParts: (count) => `Sehemu za ID ${number(count)} za kwanza:`,
    earlier: "Za awali katika kichupo hiki",
    readAll: "Chambua kama orodha",
    origin: "Inakotoka",
    promise:
      "ID hubaki za kipekee mradi hifadhi inatunza ilichothibitisha. Kwa hifadhi inayoweza kukipoteza, saa pia huhusika.",
    uuidNote: "Bonyeza Zalisha upya: ukurasa hauwezi kuandika ID za seva hii katika umbizo hili peke yake.",
    fix: "Sahihisha sehemu zilizowekewa alama, kisha ID itaonekana hapa.",
  },
  learn: {
    contents: "Yaliyomo",
    bits: "Biti",
    programs: "Programu",
    heading: "Jinsi ID inavyofanya kazi",
    lead: "ID ya Snowflake ni nambari kamili moja yenye biti zisizozidi 63. Huonyesha wakati ilipozalishwa, pamoja na nodi iliyoizalisha, na hupangika kwa wakati.",
    parts: "Sehemu za",
    time: (time, epoch) =>
      `ID ilizalishwa: ${time} (UTC), muda ukihesabiwa tangu enzi ya muundo, ${epoch}. Muda uko kwenye biti za juu kabisa, hivyo ID hupangika kwa wakati.`,
    fieldTexts: {
      datacenter:
        "Kundi la nodi. Kila kituo cha data huzipa nodi zake nambari zake chenyewe, hivyo vituo hufanya kazi bila kutegemeana.",
      worker: "Mchakato ulioizalisha. Michakato miwili isiwe na kitambulisho kilekile cha nodi kwa wakati mmoja.",
      sequence: "Hutofautisha ID ambazo nodi hii ilizalisha katika kizio kimoja cha muda.",
    },
    steps: "Jinsi inavyozalishwa, hatua kwa hatua",
    sum: "ID yenyewe",
    calculator: "Uwezo wa muundo",
    until: "Inadumu hadi",
    yearsLeft: "Miaka iliyobaki",
    workerIds: "Vitambulisho vya nodi",
    perWorker: "ID kwa sekunde, kila nodi",
    all: "ID kwa sekunde, nodi zote",
    highest: "ID kubwa kabisa",
    calculatorNote:
      "Chagua muundo mwingine hapo juu, au wako mwenyewe: biti moja zaidi kwa sehemu moja ni biti moja pungufu kwa nyingine.",
    program: "Zalisha na uchambue ID hizi katika programu",
    programNote:
      "Ina muundo uliochaguliwa hapo juu, haipotezi tarakimu za nambari zinazozidi 2^53, na hukataa nambari zilizo nje ya mipaka.",
    programTexts: [
      [
        "Baada ya kuanza upya,",
        "ID ya kwanza huja baada ya kizio cha muda ilimoanza, hivyo kuanza upya hakurudii ID mradi saa zinakwenda mbele.",
      ],
      ["Kizio cha muda kikijaa,", "husubiri kinachofuata."],
      [
        "Saa ikiwa nyuma ya ID ya mwisho,",
        "hukataa. Haitunzi chochote, hivyo ikianza upya husahau ID hiyo, na kisha ID zinaweza kurudiwa.",
      ],
      [
        "Mchakato wa pili",
        "wenye kitambulisho kilekile cha nodi hurudia ID zake, na hakuna kati yao unaoona. Kuupa kila mchakato chake ni kazi ya seva.",
      ],
    ],
    uses: {
      title: "ID hizi hufaa wapi",
      texts: [
        [
          "Rekodi zinazoandikwa na programu nyingi.",
          "Kila nodi huzalisha ID zake yenyewe, na ID mpya huenda mwishoni mwa faharasa, katika jedwali lolote.",
        ],
        [
          "Ujumbe, matukio, machapisho.",
          "Zikipangwa kwa ID zimepangwa kwa wakati, kwa kiasi cha tofauti ya saa, na ID ya mwisho iliyosomwa ni mahali pa kuendelea.",
        ],
        ["Maswali ya wakati.", "ID za saa moja ni safu moja ya nambari, hivyo hazihitaji faharasa ya pili."],
        [
          "Hazifai sana:",
          "siri na viungo visivyopaswa kukisiwa, vinavyohitaji ID za nasibu, na nambari za ankara zisizo na mapengo, zinazohesabiwa ndani ya muamala unaoandika ankara.",
        ],
      ],
    },
    limits: {
      title: "Mipaka",
      texts: [
        ["Inaisha.", "Biti 41 za milisekunde hudumu miaka 69. Kwa enzi ya Twitter ni hadi tarehe 10 Julai 2080."],
        [
          "Si siri.",
          "Yeyote anaweza kusoma wakati ilipozalishwa, pamoja na nodi iliyoizalisha, na kukisia ID za jirani.",
        ],
        [
          "Inahitaji vitambulisho vya nodi.",
          "Michakato miwili yenye kitambulisho kilekile cha nodi hurudia ID zilezile. Snowlane hutoa kila kitambulisho kwa mchakato mmoja tu kwa wakati mmoja, na kukiandika katika hifadhi.",
        ],
        [
          "Wakati ni sahihi kama saa tu.",
          "Saa isiyo sahihi huweka wakati usio sahihi katika ID. Kwa Snowlane haisababishi ID kurudiwa pale hifadhi inapotunza ilichothibitisha. Kwa hifadhi inayoweza kupoteza data, kama Redis, saa lazima ziwe sahihi kwa nusu sekunde.",
        ],
      ],
    },
    edges: {
      title: "Hali maalum",
      texts: [
        [
          "2^53 ya JavaScript.",
          "Nambari inayozidi 9,007,199,254,740,991 hupoteza tarakimu. Tumia maandishi (string) kwa ID katika JSON, na BigInt katika programu.",
        ],
        [
          "Saa iliyorudishwa nyuma.",
          "Vizalishaji rahisi hurudia ID au husimama. Kwa chaguomsingi Snowlane huendelea kutoka wakati wa mwisho ilioutumia.",
        ],
        [
          "Kizio cha muda kilichojaa.",
          "Baada ya ID 4,096 katika milisekunde moja nodi husubiri milisekunde inayofuata, au huitangulia saa kidogo.",
        ],
        [
          "Zimepangika, lakini si kwa ukamilifu.",
          "ID za nodi moja huongezeka daima. Za nodi tofauti zinaweza kupishana kwa kiasi cha tofauti ya saa za nodi hizo.",
        ],
        ["Biti ya kwanza.", "Hubaki 0, ili nambari iwe chanya popote nambari kamili zinapokuwa na alama (signed)."],
      ],
    },
    alternatives: {
      title: "Njia nyingine",
      columns: ["Aina", "Ukubwa", "Hupangika kwa wakati", "Huhitaji", "Huonyesha"],
      rows: [
        ["Snowflake", "baiti 8", "ndiyo", "vitambulisho vya nodi", "wakati na nodi"],
        ["UUID v4", "baiti 16", "hapana", "hakuna", "hakuna"],
        ["UUID v7", "baiti 16", "ndiyo", "hakuna", "wakati"],
        ["ULID", "baiti 16, herufi 26", "ndiyo", "hakuna", "wakati"],
        [
          "Inayojiongeza yenyewe",
          "baiti 4 au 8",
          "ndiyo, katika jedwali moja",
          "hifadhidata moja kwa ID zote",
          "idadi ya zilizopo",
        ],
      ],
    },
    history: {
      title: "Historia",
      texts: [
        [
          "2010.",
          "Twitter ilihama kutoka MySQL hadi Cassandra, isiyotoa ID za mfululizo, na kuchapisha Snowflake: biti 41 za muda, 10 za nodi, 12 za mfululizo.",
        ],
        ["2012.", "Instagram ilizalisha ID zake ndani ya PostgreSQL, kigawe (shard) kikiwa mahali pa nodi."],
        ["2014.", "Sonyflake ilichukua vizio vya ms 10, ili idumu zaidi na kubeba nodi nyingi zaidi."],
        ["2015.", "Discord ilichukua idadi za biti za Twitter, enzi yake ikiwa sekunde ya kwanza ya mwaka."],
        [
          "2024.",
          "RFC 9562 iliifanya UUID v7 kuwa kiwango rasmi: wakati mbele, kama hapa, na biti za nasibu nyuma yake.",
        ],
      ],
    },
    references: {
      title: "Marejeo",
      announcement: "Twitter yatangaza Snowflake (2010)",
      source: "Msimbo wa Snowflake (2010)",
      discord: "Discord: Snowflakes",
      instagram: "Instagram: vigawe (shards) na ID",
      uuid: "RFC 9562: UUID",
    },
  },
  watch: {
    heading: "Fuatilia nodi",
    lead: "Hali ya seva hii sekunde kwa sekunde, na vitambulisho vyote vya nodi vya mfumo wake, kichupo hiki kikionekana.",
    noServer: "Tovuti hii haina seva. Ukurasa unaotolewa na seva ya Snowlane huonyesha seva hiyo hapa.",
    failed: "Hali ya seva haikupatikana.",
    notServing: (reason) => `Seva hii haitoi ID sasa. ${failureWords(failures, reason, reason)}`,
    quarantine: (until, reason) =>
      `Hakuna kitambulisho cha nodi kitakachotolewa hadi ${until} (UTC)${reason === "" ? "" : `: ${reason.replace(/\.$/, "")}`}. Seva zenye vitambulisho zinaendelea.`,
    server: "Seva hii",
    version: (version) => `toleo ${version}`,
    worker: "Kitambulisho chake cha nodi",
    workerOf: (datacenterId, workerId, hasDatacenter) =>
      hasDatacenter ? `${datacenterId} / ${workerId}` : String(workerId),
    held: "Vitambulisho vinavyotumika",
    of: (count, all) => `${number(count)} kati ya ${number(all)}`,
    free: (count) => `${number(count)} vinaweza kutolewa sasa`,
    window: "Muda uliotengwa",
    windowNote: "Muda wa kuendelea bila hifadhi",
    leadTime: "ID mbele ya saa",
    leadNote: "Huongezeka maombi yakizidi",
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
    started: (span) => `imekuwa hewani kwa ${spanWords(span)}`,
    load: (connections, waiting) =>
      `miunganisho ${number(connections)}${waiting === 0 ? "" : `, maombi ${number(waiting)} yanasubiri`}`,
    granted: (generation, since) => `tangu ${since}, utoaji wa ${number(generation)}`,
    milliseconds: (ms) => `ms ${ms < 10 ? ms.toFixed(1) : number(Math.round(ms))}`,
    charts: "Dakika za karibuni",
    span: "Kipindi",
    minutes: (count) => `dak. ${count}`,
    pause: "Sitisha",
    goOn: "Endelea",
    asTable: "Vivyo hivyo kwa nambari",
    chartColumns: ["Kipimo", "Sasa", "Ndogo zaidi", "Wastani", "Kubwa zaidi", "Saa"],
    figuresNote: "Takwimu ni wastani wa sekunde kumi.",
    ownCalls: "Takriban maombi 0.8 kwa sekunde ni ya ukurasa huu.",
    errorCodes: (codes) => `Kwa msimbo: ${codes}`,
    aboveScale: (value, time) => `Juu ya kipimo: ${value}, saa ${time}`,
    chart: {
      ids: "ID kwa sekunde",
      calls: "Maombi kwa sekunde",
      latency: "Muda wa ombi, p50 na p99",
      errors: "Makosa kwa sekunde",
      lead: "ID mbele ya saa",
      window: "Muda uliotengwa",
    },
    measure: (name: ChartName, value: number | undefined) => {
      if (value === undefined) return "–";
      const rounded = value < 10 ? Number(value.toFixed(2)) : Math.round(value);
      const unit = name === "latency" || name === "lead" ? "ms " : name === "window" ? "sek. " : "";
      return `${unit}${number(rounded)}`;
    },
    sequences: "Mifululizo",
    noSequences: "Bado hakuna mfululizo. Unda mmoja kwa: snowlane sequences create NAME",
    sequenceColumns: ["Jina", "Inayofuata", "Zilizobaki", "Kiolezo cha maandishi"],
    disabled: "umezimwa",
    noneLeft: "zimeisha",
    seconds: (ms) => `sek. ${(ms / 1_000).toFixed(1)}`,
    layout: "Muundo",
    until: (day) => `hadi ${day}`,
    rollback: "Saa yake ikirudishwa nyuma",
    workers: "Nodi",
    find: "Tafuta",
    findHint: "Mwenyeji, mchakato, toleo au nambari",
    state: "Hali",
    all: "zote",
    found: (count, all, max) =>
      all === 0
        ? "Hakuna kitambulisho cha nodi kilichowahi kutumika."
        : `Vitambulisho vya nodi ${number(count)} kati ya ${number(all)} vilivyowahi kutumika.${count > max ? ` ${number(max)} vya kwanza vinaonyeshwa.` : ""}`,
    columns: ["Nodi", "Hali", "Mwenyeji", "Mchakato ulianza", "Umetengwa hadi (UTC)", "Toleo"],
    windowLeft: (ms) => `zimebaki s ${(ms / 1_000).toFixed(1)}`,
    states: {
      held: "inatumika",
      released: "imerudishwa",
      expired: "imeisha muda",
      quarantined: "katika karantini",
      unreadable: "haisomeki",
    },
    own: "seva hii",
    freeAt: (time) => `huru kuanzia ${time}`,
    ago: agoWords,
  },
};
