import { groupDigits as number } from "../../../src/text/group-digits.ts";
import type { ChartName } from "../chart-data.ts";
import type { Failure } from "../failure.ts";
import type { PartProblem } from "../hand-ids.ts";
import type { LayoutProblem } from "../layout-choice.ts";
import type { Span, SpanUnit } from "../time-words.ts";
import type { Texts } from "./en.ts";

/** Chinese, translated without a native reader. */

const unitWords: Readonly<Record<SpanUnit, string>> = {
  year: "年",
  day: "天",
  hour: "小时",
  minute: "分钟",
  second: "秒",
};
const spanWords = ({ large, small }: Span): string =>
  [large, small]
    .map((part) => (part === undefined ? "" : `${number(part.count)} ${unitWords[part.unit]}`))
    .join(" ")
    .trim();

const fields: Texts["fields"] = { timestamp: "时间", datacenter: "数据中心", worker: "工作节点", sequence: "序号" };

const textFaults: Readonly<Record<string, string>> = {
  character: "含有不允许出现的字符",
  too_short: "过早结束",
  too_long: "在应当结束处仍有内容",
  leading_zero: "以不应出现的零开头",
  out_of_range: "所含的数对 ID 来说过大",
  check_symbol: "末尾的校验符与其余部分不符，可能有一个字符写错",
  date: "不含日历上的日期",
  tick: "含有此布局不可能有的时间",
  prefix: "前缀格式有误",
  no_form: "不是此页面认识的任何 ID 形式",
  future: "会是来自未来的 ID，或属于另一种布局",
};

const failures: Readonly<Partial<Record<Failure["reason"], string>>> = {
  UNREACHABLE: "服务器没有应答。解析与在浏览器中生成仍可使用。",
  UNAUTHENTICATED: "服务器要求令牌，请在上方填写。",
  DENIED: "您无权调用此方法，请向管理员申请权限。",
  MISSING_CREDENTIALS: "服务器要求令牌，请在上方填写。",
  METHOD_DENIED: "您无权调用此方法，请向管理员申请权限。",
  COUNT_OUT_OF_RANGE: "服务器一次不能给出这么多 ID，请减少数量。",
  BURST_EXCEEDED: "服务器目前已达上限，请一秒后再试。",
  STORE_UNAVAILABLE: "服务器无法访问其存储，它会自行重试。",
  WINDOW_EXPIRED: "服务器未能在存储中预留时间，它会自行重试。",
  WORKER_LEASE_LOST: "服务器失去了工作节点号，正在获取另一个，请稍后再试。",
  CLOCK_ROLLED_BACK: "服务器的时钟被拨回，它会等到时钟追上。",
  SHUTTING_DOWN: "服务器正在停止，请重新启动后再试。",
};

const partProblem = (problem: PartProblem): string => {
  switch (problem.kind) {
    case "not-whole":
      return `请写 ${number(problem.min)} 到 ${number(problem.max)} 的整数。`;
    case "range":
      return `此布局在此处可容纳 ${number(problem.min)} 到 ${number(problem.max)}。`;
    case "unreadable-time":
      return "请写如 2026-01-31 12:00:00.000（UTC）的时间，或 Unix 毫秒。";
    case "before-epoch":
      return `早于布局的纪元 ${problem.limit}：没有 ID 能带此时间。`;
    case "after-end":
      return `晚于布局的终点 ${problem.limit}：没有 ID 能带此时间。`;
  }
};

const layoutProblem = (problem: LayoutProblem): string => {
  switch (problem.kind) {
    case "date":
      return "请写如 2020-01-01 的日期。";
    case "milliseconds":
      return "请写如 1577836800000 的 Unix 毫秒。";
    case "future":
      return "此纪元在未来：在它之前不能生成 ID。";
    case "range":
      return "纪元须在公元 1 年到 9999 年之间。";
    case "bits":
      return "一个字段有 0 到 32 位，时间有 1 到 62 位。";
    case "sum":
      return `各字段共占 ${problem.bits} 位，最多 63 位，因为首位恒为 0。`;
    case "identity":
      return `数据中心与工作节点共占 ${problem.bits} 位，最多 32 位。`;
    case "timestamp":
      return "ID 需要若干时间位。";
  }
};

const forms: Texts["forms"] = {
  decimal: "十进制",
  hex: "十六进制",
  base32: "base32",
  base58: "base58",
  base62: "base62",
  serial: "流水号",
  uuid: "UUID",
  typed: "带类型",
};

/** See the head of this file. */
export const zh: Texts = {
  locale: "zh-CN",
  number,
  fields,
  forms,
  nav: { label: "视图", generate: "生成", parse: "解析", learn: "了解", watch: "监视" },
  skip: "跳到正文",
  title: { generate: "生成 ID", parse: "解析 ID", learn: "ID 的原理", watch: "监视工作节点" },
  server: {
    asking: "正在连接",
    serving: "服务中",
    waiting: "未在服务",
    away: "无法访问",
    closed: "需要令牌",
    worker: (datacenterId, workerId, hasDatacenter) =>
      `工作节点 ${hasDatacenter ? `${datacenterId} / ` : ""}${workerId}`,
  },
  access: {
    title: "服务器要求您表明身份",
    lead: "请填写服务器认识的令牌。解析、了解与在浏览器中生成不需要令牌。",
    plaintext: "此页面未经 TLS 传来：令牌会以明文经过网络。",
    label: "令牌",
    hint: "它只留在此标签页中，重新载入后即消失。",
    wrong: "服务器不认识此令牌。",
    use: "使用此令牌",
    given: "调用会带上您的令牌。",
    forget: "忘记它",
  },
  brokenLink: "链接中有一部分无法读取，其余已读取。",
  missing: { text: "此页面的一部分无法载入：服务器曾经离线，或版本不同。", reload: "重新载入页面" },
  language: { label: "页面语言", note: "中文译文尚未经母语读者审阅。" },
  theme: { label: "颜色", auto: "自动", light: "浅色", dark: "深色" },
  footer: (version) => `Snowlane${version === undefined ? "" : ` ${version}`}。您在解析中输入的内容不会离开此页面。`,
  copy: { copy: "复制", done: "已复制", refused: "不被允许：请选中后手动复制" },
  layout: {
    label: "布局",
    ofServer: "此服务器的布局",
    custom: "自定义布局",
    since: (name, day) => `${name}，自 ${day}`,
    detail: "其他纪元或布局",
    epochDate: "纪元，日期（UTC）",
    epochMs: "纪元，Unix 毫秒",
    ownEpoch: (day) => `留空：布局自身的纪元 ${day}`,
    tick: "时间单位",
    bitsOf: (kind) => `${fields[kind]}的位数`,
    up: (kind) => `将${fields[kind]}左移`,
    down: (kind) => `将${fields[kind]}右移`,
    fields: "字段，高位在前",
    sum: (bits) => `已用 63 位中的 ${bits} 位。`,
    problem: layoutProblem,
  },
  parse: {
    heading: "解析 ID",
    lead: "粘贴一个或多个 ID，任何形式均可：十进制、十六进制、base62、流水号、UUID。内容不会离开此页面。",
    ids: "ID",
    placeholder: "1541815603606036522",
    form: "文本形式",
    detect: "按其样子",
    copyLink: "复制链接",
    result: "结果",
    empty: "ID 说明它何时由哪个工作节点生成。请在上方粘贴一个，或读取示例：",
    examples: "示例",
    inFuture: (span) => `${spanWords(span)}之后`,
    ago: (span) => `${spanWords(span)}之前`,
    local: (zone) => `您所在地（${zone}）`,
    utc: "UTC",
    madeBy: (datacenterId, workerId, sequence) => {
      const place = datacenterId === undefined ? "" : `数据中心 ${number(datacenterId)} 的`;
      const worker = workerId === undefined ? "" : `${place}工作节点 ${number(workerId)} 生成`;
      const order = sequence === undefined ? "" : `序号 ${number(sequence)}`;
      return [worker, order].filter((part) => part !== "").join("，");
    },
    bits: "ID 的各位",
    bitsHint: "指向一个字段，或使用方向键。",
    bitRange: (name, high, low, value) =>
      `${name}：${high === low ? `第 ${high} 位` : `第 ${high} 到 ${low} 位`}，值 ${value}`,
    sign: "恒为 0",
    unused: "未使用",
    fieldBits: (name, bits) => `${name}，${bits}`,
    firstFieldBits: (name, bits) => `${name}，${bits} 位`,
    ticks: (unit) => `自纪元起的${unit}`,
    tickUnits: (tickNs) =>
      tickNs === 1e6
        ? "毫秒"
        : tickNs === 1e9
          ? "秒"
          : tickNs < 1e6
            ? `${tickNs / 1e3} 微秒单位`
            : `${tickNs / 1e6} 毫秒单位`,
    datacenter: "数据中心",
    worker: "工作节点",
    sequence: "序号",
    everyForm: "所有文本形式",
    form_: "形式",
    text: "文本",
    copyForm: (form) => `复制${form}`,
    others: "会是别家的 ID 吗？",
    plausible: "有可能",
    noOthers: "在任何已知布局下，此 ID 都不来自已经过去的时间。",
    othersNote: "仅凭时间判断。选择布局即可按其读取。",
    readAs: (name) => `按 ${name} 读取`,
    uuid: {
      title: (version) => (version === 0 ? "一个 UUID" : `版本 ${version} 的 UUID`),
      none: "它不含此布局的 ID。",
      noTime: "它不带时间。",
      variant: "变体",
      clockSequence: "时钟序列",
      node: "节点",
    },
    foreign: {
      title: (kind) =>
        ({ ulid: "ULID", ksuid: "KSUID", objectid: "ObjectId", xid: "xid", typeid: "TypeID" })[kind] ?? kind,
      note: "此文本由另一种生成器写出。",
    },
    refused: "这不是 ID",
    fault: (fault, position, form) => {
      const place = fault === "no_form" || fault === "future" ? "" : `（第 ${position + 1} 个字符）`;
      return `${form === undefined ? "此文本" : `按${form}读取，此文本`}${textFaults[fault] ?? fault}${place}。`;
    },
    ambiguous: (candidates) => `它可能是 ${candidates.join(" 或 ")}，请选择形式。`,
    outsideLayout: "此数不合此布局：过大，或所带时间超过布局的终点。",
    tooLarge: "ID 在 0 到 9,223,372,036,854,775,807 之间。",
    many: (count, refused) => `已读 ${number(count)} 行${refused === 0 ? "" : `，其中 ${number(refused)} 行不含 ID`}。`,
    reading: (done, count) => `正在读取：${number(done)} / ${number(count)} 行`,
    leftOut: (read, left) => `只读取前 ${number(read)} 行，其余 ${number(left)} 行略去。`,
    shortened: (shown) => `此处显示前 ${number(shown)} 行，全部在表中。`,
    clear: "清除",
    downloadCsv: "下载 CSV",
    line: "行",
    id: "ID",
    time: "时间（UTC）",
    by: "工作节点",
    workerOf: (datacenterId, workerId) => [datacenterId, workerId].filter((part) => part !== undefined).join(" / "),
  },
  generate: {
    heading: "生成 ID",
    lead: "由此服务器生成，在其部署中永远唯一。或在浏览器中手动生成，用于测试与补录。",
    source: "来源",
    fromServer: "由此服务器",
    byHand: "在浏览器中",
    count: "数量",
    countProblem: (max) => `请写 1 到 ${number(max)} 的整数。`,
    form: "文本形式",
    serialPrefix: "前缀",
    serialPrefixHint: "0 到 16 个 A-Z 与 0-9",
    utcOffset: "与 UTC 的时差",
    utcOffsetProblem: "请写如 +03:00 的时差，从 -18:00 到 +18:00。",
    checkSymbol: "末尾加校验符",
    typePrefix: "类型",
    typePrefixHint: "一个 a-z 字母，其后 0 到 15 个 a-z 与 0-9",
    generate: "生成",
    cancel: "取消",
    progress: (done, count) => `${number(done)} / ${number(count)}`,
    rate: (perSecond) => `每秒 ${number(Math.round(perSecond))} 个 ID`,
    took: (count, ms) => `${number(count)} 个 ID，用时 ${ms < 10 ? ms.toFixed(1) : number(Math.round(ms))} 毫秒。`,
    above: (shownMax) => `超过 ${number(shownMax)} 个时得到文件。`,
    first: "按“生成”得到一个此部署中别人永远得不到的 ID。",
    copy: "复制",
    copyAll: "全部复制",
    readIt: "解析它",
    download: "下载",
    ready: (count) => `${number(count)} 个 ID 可供下载`,
    cancelled: (count) => `已取消。已到的 ${number(count)} 个 ID 归您所有。`,
    failed: "没有得到 ID",
    result: "结果",
    ids: "这些 ID",
    failure: ({ reason, message, permission }) =>
      permission === undefined ? (failures[reason] ?? message) : `您的凭据缺少权限 ${permission}，请向管理员申请。`,
    code: "用代码做同样的事",
    language: "编程语言",
    codeNote: "客户端在仓库的 clients 文件夹中。",
    copyCode: "复制代码",
    warning: "手动生成：没有什么保证其唯一。两人输入相同的数会得到相同的 ID。",
    time: "时间",
    timeHint: "UTC，或 Unix 毫秒",
    now: "现在",
    handCountHint: "更多的 ID 取后续序号，然后取下一个时间单位。",
    partProblem,
    range: (max) => `0 到 ${number(max)}`,
    noField: "此布局没有这个字段。",
    fix: "请改正标出的字段，ID 便会出现在这里。",
  },
  learn: {
    heading: "ID 的原理",
    lead: "雪花 ID 是一个最多 63 位的整数。它说明自己何时由哪个工作节点生成，并按时间排序。",
    parts: "各部分：",
    time: (time, epoch) =>
      `ID 的生成时间：${time}（UTC），从布局的纪元 ${epoch} 算起。它在最高位，因此 ID 按时间排序。`,
    fieldTexts: {
      datacenter: "一组工作节点。两个数据中心从不共用工作节点号，因此可以各自工作。",
      worker: "生成它的进程。任何两个进程不得同时使用同一个工作节点号。",
      sequence: "此工作节点在同一时间单位内所生成 ID 的次序。",
    },
    steps: "逐步看它如何生成",
    sum: "此 ID",
    calculator: "布局能容纳什么",
    until: "可用至",
    yearsLeft: "剩余年数",
    workerIds: "工作节点号",
    perWorker: "每个工作节点每秒的 ID",
    all: "所有工作节点每秒的 ID",
    highest: "最大的 ID",
    calculatorNote: "请在上方选择另一种布局或自定义：一个字段多一位，另一个就少一位。",
    program: "在程序中生成与读取这样的 ID",
    programNote:
      "它使用上方所选的布局，超过 2^53 也不丢失数字，并拒绝超出范围的数。其中没有什么阻止两个进程使用同一个工作节点号：那是服务器的工作。",
    limits: {
      title: "局限",
      texts: [
        ["它会用尽。", "41 位毫秒可用 69 年。按 Twitter 的纪元，即到 2080 年 7 月 10 日。"],
        ["它不是秘密。", "任何人都能读出它何时由哪个工作节点生成，并猜出相邻的 ID。"],
        [
          "它需要工作节点号。",
          "两个进程用同一个工作节点号会互相重复。Snowlane 同一时刻只授予每个号一次，并记录在存储中。",
        ],
        ["时间只与时钟一样准。", "错误的时钟使 ID 带上错误的时间。在这里它绝不会造成重复。"],
      ],
    },
    edges: {
      title: "特殊情形",
      texts: [
        ["JavaScript 的 2^53。", "大于 9,007,199,254,740,991 的数会丢失数字。在 JSON 中用字符串，在程序中用 BigInt。"],
        ["时钟被拨回。", "简单的生成器会重复 ID 或停止。Snowlane 从上次用过的时间继续。"],
        ["一个时间单位已满。", "一毫秒内 4,096 个 ID 之后，工作节点等待下一毫秒，或稍微超前。"],
        ["有序，但不精确。", "同一工作节点的 ID 递增。不同工作节点的 ID 按时钟之差的精度排序。"],
        ["首位。", "它恒为 0，使此数在有符号整数中为正。"],
      ],
    },
    alternatives: {
      title: "其他选择",
      columns: ["种类", "大小", "按时间排序", "需要", "透露"],
      rows: [
        ["雪花 ID", "8 字节", "是", "工作节点号", "时间与工作节点"],
        ["UUID v4", "16 字节", "否", "无", "无"],
        ["UUID v7", "16 字节", "是", "无", "时间"],
        ["ULID", "16 字节，26 个字符", "是", "无", "时间"],
        ["自增", "4 或 8 字节", "在一张表内", "每个 ID 都要同一个数据库", "总数"],
      ],
    },
    history: {
      title: "历史",
      texts: [
        ["2010 年。", "Twitter 离开单一的 MySQL，公布了 Snowflake：41 位时间、10 位工作节点、12 位序号。"],
        ["2012 年。", "Instagram 在 PostgreSQL 内生成 ID，以分片代替工作节点。"],
        ["2014 年。", "Sonyflake 以 10 毫秒为单位，可用更久、容纳更多工作节点。"],
        ["2015 年。", "Discord 从当年的第一秒开始，沿用 Twitter 的位数。"],
        ["2024 年。", "RFC 9562 使 UUID v7 成为标准：时间在前，与此处相同，其后是随机位。"],
      ],
    },
    references: {
      title: "参考",
      announcement: "Twitter 公布 Snowflake（2010）",
      source: "Snowflake 的源代码（2010）",
      discord: "Discord：Snowflakes",
      instagram: "Instagram：分片与 ID",
      uuid: "RFC 9562：UUID",
    },
  },
  watch: {
    heading: "监视工作节点",
    lead: "逐秒显示此服务器，以及其部署的每个工作节点号，只要此标签页可见。",
    failed: "服务器没有告知。",
    notServing: (reason) => `此服务器目前不发放 ID。${failures[reason as Failure["reason"]] ?? reason}`,
    quarantine: (until, reason) =>
      `在 ${until}（UTC）之前不授予工作节点号${reason === "" ? "。" : `：${reason}`} 已持有的服务器继续工作。`,
    server: "此服务器",
    version: (version) => `版本 ${version}`,
    worker: "其工作节点号",
    workerOf: (datacenterId, workerId, hasDatacenter) =>
      hasDatacenter ? `${datacenterId} / ${workerId}` : String(workerId),
    held: "被持有的工作节点号",
    of: (count, all) => `${number(count)} / ${number(all)}`,
    free: (count) => `现在可授予 ${number(count)} 个`,
    window: "预留的时间",
    windowNote: "没有存储也能继续这么久",
    leadTime: "ID 超前时钟",
    leadNote: "突发时增大",
    store: "存储",
    storeState: (isReachable, answerAgeMs, clockAheadMs) =>
      [
        isReachable ? "" : "无法访问",
        answerAgeMs === undefined ? "从未应答" : `${(answerAgeMs / 1_000).toFixed(1)} 秒前应答`,
        clockAheadMs === undefined
          ? ""
          : `其时钟 ${clockAheadMs >= 0 ? "+" : "−"}${number(Math.abs(Math.round(clockAheadMs)))} 毫秒`,
      ]
        .filter((part) => part !== "")
        .join("，"),
    started: (span) => `已运行 ${spanWords(span)}`,
    load: (connections, waiting) =>
      `${number(connections)} 个连接${waiting === 0 ? "" : `，${number(waiting)} 个调用在等待`}`,
    granted: (generation, since) => `自 ${since}，第 ${number(generation)} 代`,
    milliseconds: (ms) => `${ms < 10 ? ms.toFixed(1) : number(Math.round(ms))} 毫秒`,
    charts: "最近几分钟",
    span: "回看多久",
    minutes: (count) => `${count} 分钟`,
    pause: "暂停",
    goOn: "继续",
    asTable: "以数字表示",
    chartColumns: ["项目", "现在", "最小", "平均", "最大"],
    chart: {
      ids: "每秒 ID",
      calls: "每秒调用",
      latency: "调用用时，p50 与 p99",
      errors: "每秒错误",
      lead: "ID 超前时钟",
      window: "预留的时间",
    },
    measure: (name: ChartName, value: number | undefined) => {
      if (value === undefined) return "–";
      const rounded = value < 10 ? Number(value.toFixed(2)) : Math.round(value);
      const unit = name === "latency" || name === "lead" ? " 毫秒" : name === "window" ? " 秒" : "";
      return `${number(rounded)}${unit}`;
    },
    sequences: "序列",
    noSequences: "还没有序列。创建一个：snowlane sequences create NAME。",
    sequenceColumns: ["名称", "下一个", "剩余", "文本"],
    disabled: "已停用",
    noneLeft: "无",
    seconds: (ms) => `${(ms / 1_000).toFixed(1)} 秒`,
    layout: "布局",
    until: (day) => `至 ${day}`,
    rollback: "若其时钟被拨回",
    workers: "工作节点",
    find: "查找",
    findHint: "主机、实例、版本或号码",
    state: "状态",
    all: "全部",
    found: (count, all, max) =>
      all === 0
        ? "从未有工作节点号被持有。"
        : `曾被持有的 ${number(all)} 个工作节点号中的 ${number(count)} 个。${count > max ? `显示前 ${number(max)} 个。` : ""}`,
    columns: ["工作节点", "状态", "主机", "进程启动", "剩余窗口", "标记（UTC）"],
    states: { held: "被持有", released: "已归还", expired: "已过期", quarantined: "隔离中", unreadable: "无法读取" },
    own: "此服务器",
    freeAt: (time) => `自 ${time} 起可用`,
    ago: (span) => `${spanWords(span)}之前`,
  },
};
