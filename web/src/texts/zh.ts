import { groupDigits as number } from "../../../src/text/group-digits.ts";
import type { ChartName } from "../chart-data.ts";
import { type FailureWords, failureWords } from "../failure.ts";
import type { PartProblem, TimeReading } from "../hand-ids.ts";
import type { LayoutProblem } from "../layout-choice.ts";
import { shortSpan, type ShortUnit, type Span, type SpanUnit } from "../time-words.ts";
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

const shortUnits: Readonly<Record<ShortUnit, string>> = { ms: "毫秒", s: "秒", min: "分钟", h: "小时", d: "天" };

const fields: Texts["fields"] = { timestamp: "时间戳", datacenter: "数据中心", worker: "工作节点", sequence: "序列号" };

const textFaults: Readonly<Record<string, string>> = {
  character: "含有不允许出现的字符",
  too_short: "不完整，缺少后面的字符",
  too_long: "过长，末尾有多余的字符",
  leading_zero: "开头有多余的零",
  out_of_range: "所含的数值超出 ID 的范围",
  check_symbol: "末尾的校验字符与其余部分不符，可能有一个字符写错了",
  date: "含有不存在的日期或时间",
  tick: "含有此布局无法表示的时间",
  prefix: "的前缀格式有误",
  no_form: "不符合此页面支持的任何 ID 格式",
  future: "所表示的时间在未来，或者属于另一种布局",
};

const failures: FailureWords = {
  UNREACHABLE: "服务器没有响应。“解析”和浏览器内生成仍可使用。",
  UNAUTHENTICATED: "服务器要求提供令牌，请在上方输入。",
  DENIED: "您无权调用此方法，请向管理员申请权限。",
  MISSING_CREDENTIALS: "服务器要求提供令牌，请在上方输入。",
  METHOD_DENIED: "您无权调用此方法，请向管理员申请权限。",
  COUNT_OUT_OF_RANGE: "数量超过服务器的单次上限，请减少数量。",
  BURST_EXCEEDED: "服务器目前已达发号上限，请一秒后再试。",
  STORE_UNAVAILABLE: "服务器无法访问存储，会自动重试。",
  WINDOW_EXPIRED: "服务器未能在存储中预留时间窗口，会自动重试。",
  WORKER_LEASE_LOST: "服务器目前没有工作节点 ID，正在获取，请稍后再试。",
  CLOCK_ROLLED_BACK: "服务器发生时钟回拨，会等到时钟追上后继续发号。",
  SHUTTING_DOWN: "服务器正在停止，请等它重新运行后再试。",
  QUOTA_EXCEEDED: "您的配额暂时已用完，请稍后再试。",
  CLOCK_BEFORE_EPOCH: "服务器时钟早于其布局的纪元。",
  TIMESTAMP_EXHAUSTED: "布局的时间戳已用尽，无法表示更晚的时间。",
  STORE_WENT_BACK: "存储丢失了部分数据，例如从备份恢复之后。",
  HOST_NOT_ALLOWED: "服务器不接受此主机名的访问。",
  INVALID_TEXT_FORMAT: "服务器无法写出这种文本格式。",
  STREAM_STALLED: "页面长时间未读取数据，服务器已结束该流，请重试。",
  NO_FREE_WORKER_ID: "所有工作节点 ID 均在使用中，服务器正在等待空闲的 ID。",
  LAYOUT_MISMATCH: "此存储属于另一种布局的部署。",
  OTHER: "服务器的说明：",
};

/** What a time that was typed was read as; a date says that itself. */
const unixUnits: Readonly<Record<TimeReading["kind"], string>> = {
  now: "",
  date: "",
  s: "Unix 秒：",
  ms: "Unix 毫秒：",
  us: "Unix 微秒：",
  ns: "Unix 纳秒：",
};

const partProblem = (problem: PartProblem): string => {
  switch (problem.kind) {
    case "not-whole":
      return `请输入 ${number(problem.min)} 到 ${number(problem.max)} 之间的整数。`;
    case "range":
      return `在此布局中，该字段的取值范围是 ${number(problem.min)} 到 ${number(problem.max)}。`;
    case "unreadable-time":
      return "请输入时间，例如 2026-01-31 12:00:00.000（UTC，可带 +03:00 等时差），或 Unix 时间戳。";
    case "before-epoch":
      return `早于布局的纪元 ${problem.limit}：ID 无法表示此时间。`;
    case "after-end":
      return `晚于布局的截止时间 ${problem.limit}：ID 无法表示此时间。`;
  }
};

const layoutProblem = (problem: LayoutProblem): string => {
  switch (problem.kind) {
    case "date":
      return "请输入日期，例如 2020-01-01。";
    case "milliseconds":
      return "请输入 Unix 毫秒时间戳，例如 1577836800000。";
    case "future":
      return "此纪元晚于当前时间：在此之前无法生成 ID。";
    case "range":
      return "纪元须在公元 1 年到 9999 年之间。";
    case "bits":
      return "每个字段可为 0 到 32 位，时间戳可为 1 到 62 位。";
    case "sum":
      return `各字段共占 ${problem.bits} 位；最多 63 位，因为最高位恒为 0。`;
    case "identity":
      return `数据中心与工作节点共占 ${problem.bits} 位；最多 32 位。`;
    case "timestamp":
      return "ID 中至少要有 1 位时间戳。";
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
  typed: "类型化 ID",
};

/** All Chinese texts of the page, by the same keys as the English ones. */
export const zh: Texts = {
  locale: "zh-CN",
  number,
  fields,
  forms,
  nav: { label: "视图", generate: "生成", parse: "解析", learn: "原理", watch: "监控", proof: "验证" },
  skip: "跳到正文",
  title: { generate: "生成 ID", parse: "解析 ID", learn: "ID 的原理", watch: "监控工作节点", proof: "观看验证" },
  about: {
    sentence: "Snowlane 是一项发号服务，生成唯一且按时间有序的 64 位 ID。",
    learn: "这种 ID 的原理",
    links: { docs: "文档", api: "API", source: "源代码", changes: "更新日志", licence: "许可证" },
  },
  server: {
    asking: "正在连接",
    serving: "服务中",
    waiting: "暂停服务",
    away: "无法访问",
    closed: "需要令牌",
    none: "没有服务器",
    worker: (datacenterId, workerId, hasDatacenter) =>
      `工作节点 ${hasDatacenter ? `${datacenterId} / ` : ""}${workerId}`,
  },
  access: {
    title: "此服务器需要验证您的身份",
    lead: "请输入此服务器认可的令牌。“解析”“原理”和浏览器内生成不需要令牌。",
    plaintext: "此页面未通过 TLS 加载：令牌会以明文在网络上传输，任何人都能读取。",
    label: "令牌",
    hint: "令牌只保留在此标签页中，刷新后即清除。",
    wrong: "服务器不认可此令牌。",
    use: "使用此令牌",
    given: "每次调用都会附带您的令牌。",
    forget: "清除令牌",
  },
  brokenLink: "链接中有一部分无法识别，已忽略；其余部分已读取。",
  missing: { text: "此页面有一部分无法加载：服务器当时无法访问，或版本已变更。", reload: "重新加载页面" },
  language: { label: "页面语言", note: "中文译文尚未经母语读者审阅。" },
  theme: { label: "配色", auto: "自动", light: "浅色", dark: "深色" },
  footer: (version) => `Snowlane${version === undefined ? "" : ` ${version}`}。您在“解析”中输入的内容不会离开此页面。`,
  copy: { copy: "复制", done: "已复制", refused: "无法复制：请选中后手动复制" },
  layout: {
    label: "布局",
    ofServer: "此服务器的布局",
    guess: "每个 ID 最可能的布局",
    custom: "自定义布局",
    since: (name, day) => `${name}，自 ${day} 起`,
    ended: (day) => `，已于 ${day} 结束`,
    detail: "更改纪元或布局",
    epochDate: "纪元（日期，UTC）",
    epochMs: "纪元（Unix 毫秒）",
    ownEpoch: (day) => `留空则使用布局自身的纪元 ${day}`,
    tick: "时间单位",
    bitsOf: (kind) => `${fields[kind]}的位数`,
    up: (kind) => `把${fields[kind]}字段移到左边`,
    down: (kind) => `把${fields[kind]}字段移到右边`,
    fields: "字段（高位在前）",
    sum: (bits) => `已用 63 位中的 ${bits} 位。`,
    problem: layoutProblem,
  },
  parse: {
    heading: "粘贴任何含有 ID 的内容",
    lead: "JSON、日志、SQL 输出、链接或表格的一列。ID 在此查找并解析；内容不会离开此页面。",
    ids: "含 ID 的文本",
    placeholder: "1541815603606036522",
    form: "文本格式",
    detect: "自动识别",
    copyLink: "复制链接",
    result: "结果",
    empty: "ID 中含有生成时间和生成它的工作节点。请在上方粘贴一个，或查看示例：",
    examples: "示例",
    inFuture: (span) => `${spanWords(span)}后`,
    ago: (span) => `${spanWords(span)}前`,
    local: (zone) => `本地时间（${zone}）`,
    utc: "UTC",
    madeBy: (datacenterId, workerId, sequence) => {
      const place = datacenterId === undefined ? "" : `数据中心 ${number(datacenterId)}`;
      const node = workerId === undefined ? "" : `工作节点 ${number(workerId)}`;
      const maker = [place, node].filter((part) => part !== "").join(" 的");
      const order = sequence === undefined ? "" : `序列号 ${number(sequence)}`;
      return [maker === "" ? "" : `由${maker} 生成`, order].filter((part) => part !== "").join("，");
    },
    bits: "ID 的二进制位",
    bitsHint: "将指针移到某个字段上，或使用方向键。",
    bitRange: (name, high, low, value) =>
      `${name}：${high === low ? `第 ${high} 位` : `第 ${high} 到 ${low} 位`}，值 ${value}`,
    sign: "符号位，恒为 0",
    unused: "未使用",
    fieldBits: (name, bits) => `${name}，${bits}`,
    firstFieldBits: (name, bits) => `${name}，${bits} 位`,
    ticks: (unit) => `${unit}数（自纪元起）`,
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
    sequence: "序列号",
    everyForm: "文本格式",
    others: "由哪个系统生成",
    noOthers: "按任何已知布局解析，此 ID 的时间都不在过去。",
    othersNote: "数值本身不能说明其布局。所选布局适用于文本中的所有 ID。",
    readAs: (name) => `按 ${name} 解析`,
    unixTime: (time) => `这更可能是 Unix 时间 ${time}，而不是 ID。`,
    notYet: "此布局的 ID 不可能来自未来，因此它应来自另一种布局。",
    ended: (day) => `此布局已于 ${day} 结束：不会再有新的 ID。`,
    uuid: {
      title: (version) => (version === 0 ? "UUID" : `UUID（版本 ${version}）`),
      none: "其中没有此布局的 ID。",
      noTime: "其中没有时间。",
      variant: "变体",
      clockSequence: "时钟序列",
      node: "节点",
    },
    foreign: {
      title: (kind) =>
        ({ ulid: "ULID", ksuid: "KSUID", objectid: "ObjectId", xid: "xid", typeid: "TypeID" })[kind] ?? kind,
      note: "此文本由其他生成器生成。",
    },
    refused: "无法识别为 ID",
    lookedFor: "此页面查找 14 到 19 位的数字、带 0x 的十六进制数、UUID、ULID、KSUID、ObjectId、xid 和 TypeID。",
    fault: (fault, position, form) => {
      const place = fault === "no_form" || fault === "future" ? "" : `（第 ${position + 1} 个字符）`;
      return `${form === undefined ? "此文本" : `按 ${form} 解析，此文本`}${textFaults[fault] ?? fault}${place}。`;
    },
    ambiguous: (candidates) => `可能是 ${candidates.join(" 或 ")}，请选择格式。`,
    outsideLayout: "此数值不符合此布局：过大，或其时间晚于布局的截止时间。",
    tooLarge: "ID 的取值范围是 0 到 9,223,372,036,854,775,807。",
    many: (count, refused) =>
      `已解析 ${number(count)} 行${refused === 0 ? "" : `，其中 ${number(refused)} 行不是 ID`}。`,
    reading: (done, count) => `正在解析：${number(done)} / ${number(count)} 行`,
    leftOut: (read, left) => `只解析前 ${number(read)} 行，其余 ${number(left)} 行已忽略。`,
    shortened: "此处只显示文本的开头，全部结果见表格。",
    clear: "清空",
    downloadCsv: "下载 CSV",
    by: "工作节点",
    workerOf: (datacenterId, workerId) => [datacenterId, workerId].filter((part) => part !== undefined).join(" / "),
    found: "找到的 ID",
    readWhole: "按一个 ID 解析",
    foundCount: (ids, times) => `找到 ${number(ids)} 个 ID${times === 0 ? "" : ` 和 ${number(times)} 个 Unix 时间`}`,
    moreFound: (count) => `其余 ${number(count)} 个 ID 在表格中。`,
    foundKeys: "方向键移动，Enter 复制，Delete 忽略。",
    leaveOut: (place) => `忽略第 ${number(place)} 个`,
    takeBack: (count) => `已忽略 ${number(count)} 个：恢复`,
    noId: "不是 ID",
    exampleLog: "试试日志",
    linkTooLong: "太长，无法生成链接",
    badges: { rounded: "已舍入", unsigned: "64 位" },
    notes: {
      rounded: "此数值被电子表格或 JSON 解析器舍入。时间正确；工作节点可能有误，序列号已丢失。",
      negative: "第 63 位为 1，因此有符号数为负：这里没有布局会设置该位。",
      "above-63-bits": "第 63 位为 1：这里没有布局会设置该位。",
      padded: "数值前面有零，已忽略。",
    },
    holdsTime: (time) => `文本中有一个 Unix 时间：${time}。`,
    sixtyFourBits: { title: "全部 64 位", signed: "有符号", unsigned: "无符号" },
    times: {
      title: "时间",
      local: "本地",
      utc: "UTC",
      iso: "ISO 8601",
      unixMs: "Unix 毫秒",
      unixS: "Unix 秒",
      sinceEpoch: "自纪元起",
    },
    moreFit: (count) => `另有 ${number(count)} 种布局符合`,
    backToBest: "每个 ID 按最可能的布局解析",
    yourChoice: "您为文本中所有 ID 选择的布局。",
    bestGuess: "最可能的布局。",
    bestGuessBecause: (reason) => `最可能的布局：${reason}。`,
    reasons: {
      maker: "文本提到了该系统",
      own: "此服务器生成这种 ID",
      together: "最符合文本中的全部 ID",
      recent: "ID 应在最近 90 天内生成",
      "low-sequence": "序列号较小，大多数 ID 如此",
      known: "许多 ID 采用此布局",
    },
    range: {
      title: "同一时段的 ID",
      unit: "时段",
      units: { minute: "分钟", hour: "小时", day: "天" },
      column: "列",
      copy: "复制查询",
      span: (from, to) => `${from} 至 ${to}（UTC），含首尾两个 ID。`,
      firstFilter: "时间之上还有其他字段，因此其他时间的 ID 也会落在其中。",
      none: "此布局在该时段内没有 ID。",
    },
    difference: {
      title: "差异",
      with: "比较对象",
      time: "时间",
      same: "相同",
      number: "数值",
      none: "再粘贴一个 ID，即可查看两者的时间差，以及是否由同一工作节点生成。",
      span: (span, ms) => (ms < 1_000 ? `${ms} 毫秒` : `${spanWords(span)}（${number(ms)} 毫秒）`),
      later: (span) => `晚 ${span}`,
      earlier: (span) => `早 ${span}`,
      sameTime: "相同",
      noField: "没有字段",
      otherLayout: "两者按各自的布局解析。",
    },
    list: {
      title: "列表分析",
      ids: "ID",
      different: (count) => `${number(count)} 个不同`,
      copies: "重复",
      copiesNote: "首个之后的每一份",
      breaks: "乱序",
      upTo: (ms) => `最多 ${shortSpan(ms, shortUnits)}`,
      rate: "速率",
      perSecond: (rate) => `${rate < 10 ? Number(rate.toFixed(2)) : number(Math.round(rate))} 个/秒`,
      peak: (count, time) => `峰值 ${number(count)} 个/秒，${time}`,
      gap: "最长间隔",
      length: (ms) => shortSpan(ms, shortUnits),
      from: (time) => `自 ${time} 起`,
      workers: "工作节点",
      span: (from, to) => `${from} 至 ${to}`,
      timeline: "各工作节点的 ID",
      timelineSays: (workers) => `${number(workers)} 个工作节点的 ID 随时间的分布。下表列出每一个。`,
      binNote: (ms) => `每 ${shortSpan(ms, shortUnits)} 的 ID`,
      moreWorkers: (count) => `表格中还有 ${number(count)} 个工作节点`,
      zoomHint: "点击某一时段可放大显示。",
      zoomTo: (from, to, count) => `${from} 至 ${to}：${number(count)} 个 ID`,
      zoomed: (from, to) => `此处和表格显示 ${from} 至 ${to}（UTC）。`,
      zoomOut: "显示全部时间",
      copy: "重复",
      break: "乱序",
      rows: "行",
      all: "全部",
      odd: (count) => `仅异常行（${number(count)}）`,
      slack: "乱序阈值",
      slackOf: (seconds) => `${seconds} 秒`,
      filter: "筛选",
      filterHint: "工作节点（如“worker 3”），或 ID、时间的一部分",
      columns: { row: "行", id: "ID", time: "时间（UTC）", worker: "工作节点", sequence: "序列号", gap: "距上一行" },
      after: (ms) => `${ms < 0 ? "−" : "+"}${shortSpan(Math.abs(ms), shortUnits)}`,
    },
  },
  generate: {
    heading: "生成 ID",
    lead: {
      server: "由此服务器生成，整套部署内的其他调用方不会得到相同的 ID。",
      hand: "在浏览器中生成，用于测试和示例。",
    },
    source: "来源",
    fromServer: "由服务器生成",
    byHand: "在浏览器中生成",
    count: "数量",
    countProblem: (max) => `请输入 1 到 ${number(max)} 之间的整数。`,
    form: "文本格式",
    serialPrefix: "前缀",
    serialPrefixHint: "0 到 16 个字符，限 A-Z 和 0-9",
    utcOffset: "UTC 偏移",
    utcOffsetProblem: "请输入 UTC 偏移，例如 +03:00，范围 -18:00 到 +18:00。",
    checkSymbol: "末尾加校验字符",
    typePrefix: "类型前缀",
    typePrefixHint: "以 a-z 开头，其后 0 到 15 个字符，限 a-z 和 0-9",
    generate: "生成",
    cancel: "取消",
    progress: (done, count) => `${number(done)} / ${number(count)}`,
    rate: (perSecond) => `每秒 ${number(Math.round(perSecond))} 个 ID`,
    took: (count, ms) => `${number(count)} 个 ID，用时 ${ms < 10 ? ms.toFixed(1) : number(Math.round(ms))} 毫秒。`,
    above: (shownMax) => `超过 ${number(shownMax)} 个时以文件提供。`,
    first: "点击“生成”，得到一个在此部署中绝不会再发给任何人的 ID。",
    copy: "复制",
    copyAll: "全部复制",
    readIt: "解析",
    download: "下载",
    ready: (count) => `${number(count)} 个 ID 可供下载`,
    cancelled: (count) => `已取消。此前收到的 ${number(count)} 个 ID 可以使用。`,
    failed: "未获得 ID",
    result: "结果",
    ids: "生成的 ID",
    failure: ({ reason, message, permission }) =>
      permission === undefined
        ? failureWords(failures, reason, message)
        : `您的凭据缺少权限 ${permission}，请向管理员申请。`,
    code: "用代码生成",
    language: "编程语言",
    codeNote: "需要大量 ID 时请使用客户端（代码仓库的 clients 目录）：它会预先备好 ID，并能度过服务中断。",
    codeMost: (max) => `一次调用最多返回 ${number(max)} 个 ID，客户端可以流式获取更多。`,
    codeToken: (name) => `代码从变量 ${name} 读取令牌。`,
    handCodeNote: "代码以数字形式给出第一个 ID。",
    copyCode: "复制代码",
    warning: "手动生成的 ID 不保证唯一：两个人输入相同的数值，就会得到相同的 ID。",
    time: "时间",
    timeHint: "留空表示现在；ISO 8601（可带时差）；或 Unix 时间",
    timeRead: (kind, iso) => `${unixUnits[kind]}${iso}`,
    now: "现在",
    handCountHint: "生成多个时，序列号依次递增，用完后进入下一个时间单位。",
    partProblem,
    range: (max) => `0 到 ${number(max)}`,
    noServer: "此网站没有连接服务器，因此只能手动生成 ID。",
    firstParts: (count) => `前 ${number(count)} 个 ID 的组成部分：`,
    earlier: "此标签页中较早的 ID",
    readAll: "作为列表解析",
    origin: "ID 的来源",
    promise: "只要存储保留已确认的数据，ID 就不会重复。若存储可能丢失数据，则还取决于时钟。",
    uuidNote: "请再次点击“生成”：此页面无法自行为该服务器的 ID 写出这种格式。",
    fix: "请改正标出的字段，ID 将显示在这里。",
  },
  learn: {
    contents: "目录",
    bits: "二进制位",
    programs: "示例程序",
    heading: "ID 的原理",
    lead: "雪花 ID 是一个最多占 63 个二进制位的整数，其中含有生成时间和生成它的工作节点，并按时间有序。",
    parts: "组成部分：",
    time: (time, epoch) =>
      `ID 的生成时间：${time}（UTC），从布局的纪元 ${epoch} 算起。时间戳占最高的若干位，因此 ID 按时间有序。`,
    fieldTexts: {
      datacenter: "一组工作节点。各数据中心对自己的工作节点单独编号，因此可以各自独立运行。",
      worker: "生成该 ID 的进程。任意两个进程不得同时使用同一个工作节点 ID。",
      sequence: "用来区分该工作节点在同一时间单位内生成的各个 ID。",
    },
    steps: "生成步骤",
    sum: "ID",
    calculator: "布局的容量",
    until: "可用至",
    yearsLeft: "剩余年数",
    workerIds: "工作节点 ID 数",
    perWorker: "每秒 ID 数（单个工作节点）",
    all: "每秒 ID 数（全部工作节点）",
    highest: "最大的 ID",
    calculatorNote: "可在上方选择其他布局或自定义布局：一个字段多一位，其他字段就少一位。",
    program: "在程序中生成和解析这种 ID",
    programNote: "这段代码使用上方所选的布局，超过 2^53 也不丢失精度，并拒绝超出范围的数。",
    programTexts: [
      ["重启之后，", "首个 ID 晚于启动时所在的时间单位，因此只要时钟向前走，重启就不会造成重复。"],
      ["一个时间单位用满时，", "它等待下一个。"],
      ["时钟落后于上一个 ID 时，", "它拒绝生成。它什么也不保存，重启后会忘记那个 ID，此后可能重复。"],
      [
        "第二个进程",
        "若使用同一个工作节点 ID，就会生成重复的 ID，双方都察觉不到。为每个进程分配各自的 ID 是服务器的职责。",
      ],
    ],
    uses: {
      title: "适用场景",
      texts: [
        ["由多个程序写入的数据行。", "各工作节点自行生成 ID，新 ID 总是排在索引的末尾，与所在的表无关。"],
        ["消息、事件、帖子。", "按 ID 排序即按时间排序，误差不超过时钟之差；最后读到的 ID 就是下次继续的位置。"],
        ["按时间查询。", "一小时内的 ID 是一个连续范围，因此不需要第二个索引。"],
        [
          "不太适合：",
          "秘密和不可猜测的链接，它们需要随机 ID；以及不允许间断的发票号，它们要在写入发票的同一事务中计数。",
        ],
      ],
    },
    limits: {
      title: "局限",
      texts: [
        ["会用尽。", "41 位毫秒时间戳可用 69 年。按 Twitter 的纪元，可用至 2080 年 7 月 10 日。"],
        ["不保密。", "任何人都能从中读出生成时间和工作节点，并猜出相邻的 ID。"],
        [
          "需要工作节点 ID。",
          "两个进程使用同一个工作节点 ID 会生成重复的 ID。Snowlane 同一时刻只把一个工作节点 ID 分配给一个进程，并记录在存储中。",
        ],
        [
          "时间的准确性取决于时钟。",
          "时钟不准，ID 中的时间也不准。若存储保留已确认的数据，Snowlane 不会因此重复。若存储可能丢失数据，如 Redis，时钟误差须在半秒以内。",
        ],
      ],
    },
    edges: {
      title: "边界情况",
      texts: [
        [
          "JavaScript 的 2^53。",
          "大于 9,007,199,254,740,991 的数会丢失精度。ID 在 JSON 中请用字符串，在程序中请用 BigInt。",
        ],
        ["时钟回拨。", "简单的生成器会生成重复的 ID，或停止发号。Snowlane 默认从上次用过的时间继续。"],
        ["一个时间单位用满。", "一毫秒内生成 4,096 个 ID 后，工作节点会等待下一毫秒，或略微超前于时钟。"],
        ["趋势递增，但非严格递增。", "同一工作节点的 ID 单调递增。不同工作节点之间，先后误差取决于它们的时钟之差。"],
        ["最高位。", "恒为 0，因此在使用有符号整数的地方，该数也是正数。"],
      ],
    },
    alternatives: {
      title: "其他方案",
      columns: ["方案", "长度", "按时间有序", "依赖", "会透露"],
      rows: [
        ["雪花 ID", "8 字节", "是", "工作节点 ID", "时间与工作节点"],
        ["UUID v4", "16 字节", "否", "无", "无"],
        ["UUID v7", "16 字节", "是", "无", "时间"],
        ["ULID", "16 字节，26 个字符", "是", "无", "时间"],
        ["数据库自增", "4 或 8 字节", "是，仅限单表", "所有 ID 依赖同一个数据库", "总数"],
      ],
    },
    history: {
      title: "历史",
      texts: [
        [
          "2010 年。",
          "Twitter 从 MySQL 转向没有顺序 ID 的 Cassandra，并公布了 Snowflake：41 位时间戳、10 位工作节点、12 位序列号。",
        ],
        ["2012 年。", "Instagram 在 PostgreSQL 内生成 ID，用分片号取代工作节点 ID。"],
        ["2014 年。", "Sonyflake 以 10 毫秒为时间单位，可用得更久，也能容纳更多工作节点。"],
        ["2015 年。", "Discord 沿用 Twitter 的位宽，以当年的第一秒为纪元。"],
        ["2024 年。", "RFC 9562 使 UUID v7 成为标准：与雪花 ID 一样时间在前，其后是随机位。"],
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
    heading: "监控工作节点",
    lead: "逐秒显示此服务器的状态，以及整套部署的所有工作节点 ID。仅在此标签页可见时更新。",
    noServer: "此网站没有连接服务器。Snowlane 服务器提供的同一页面会在此处显示该服务器。",
    failed: "无法获取服务器状态。",
    notServing: (reason) => `此服务器目前不发号。${failureWords(failures, reason, reason)}`,
    quarantine: (until, reason) =>
      `在 ${until}（UTC）之前不分配工作节点 ID${reason === "" ? "" : `（${reason.replace(/\.$/, "")}）`}。已有工作节点 ID 的服务器继续工作。`,
    server: "此服务器",
    version: (version) => `版本 ${version}`,
    worker: "其工作节点 ID",
    workerOf: (datacenterId, workerId, hasDatacenter) =>
      hasDatacenter ? `${datacenterId} / ${workerId}` : String(workerId),
    held: "使用中的工作节点 ID",
    of: (count, all) => `${number(count)} / ${number(all)}`,
    free: (count) => `现在可分配 ${number(count)} 个`,
    window: "已预留的时间",
    windowNote: "存储不可用时还能发号这么久",
    leadTime: "ID 超前时钟的量",
    leadNote: "请求突增时变大",
    store: "存储",
    storeState: (isReachable, answerAgeMs, clockAheadMs) =>
      [
        isReachable ? "" : "无法访问",
        answerAgeMs === undefined ? "从未响应" : `${(answerAgeMs / 1_000).toFixed(1)} 秒前有响应`,
        clockAheadMs === undefined
          ? ""
          : `其时钟偏差 ${clockAheadMs >= 0 ? "+" : "−"}${number(Math.abs(Math.round(clockAheadMs)))} 毫秒`,
      ]
        .filter((part) => part !== "")
        .join("，"),
    started: (span) => `已运行 ${spanWords(span)}`,
    load: (connections, waiting) =>
      `${number(connections)} 个连接${waiting === 0 ? "" : `，${number(waiting)} 个调用在等待`}`,
    granted: (generation, since) => `自 ${since} 起，第 ${number(generation)} 次分配`,
    milliseconds: (ms) => `${ms < 10 ? ms.toFixed(1) : number(Math.round(ms))} 毫秒`,
    charts: "最近几分钟",
    span: "时间范围",
    minutes: (count) => `${count} 分钟`,
    pause: "暂停",
    goOn: "继续",
    asTable: "以数字查看",
    chartColumns: ["指标", "当前", "最小", "平均", "最大", "时间"],
    figuresNote: "数值为十秒内的平均值。",
    ownCalls: "其中每秒约 0.8 次调用来自此页面。",
    errorCodes: (codes) => `按代码：${codes}`,
    aboveScale: (value, time) => `超出刻度：${time} 时为 ${value}`,
    chart: {
      ids: "每秒 ID 数",
      calls: "每秒调用数",
      latency: "调用耗时，p50 与 p99",
      errors: "每秒错误数",
      lead: "ID 超前时钟的量",
      window: "已预留的时间",
    },
    measure: (name: ChartName, value: number | undefined) => {
      if (value === undefined) return "–";
      const rounded = value < 10 ? Number(value.toFixed(2)) : Math.round(value);
      const unit = name === "latency" || name === "lead" ? " 毫秒" : name === "window" ? " 秒" : "";
      return `${number(rounded)}${unit}`;
    },
    sequences: "序列",
    noSequences: "还没有序列。可用此命令创建：snowlane sequences create NAME",
    sequenceColumns: ["名称", "下一个值", "剩余", "文本模板"],
    disabled: "已停用",
    noneLeft: "已用尽",
    seconds: (ms) => `${(ms / 1_000).toFixed(1)} 秒`,
    layout: "布局",
    until: (day) => `可用至 ${day}`,
    rollback: "时钟回拨策略",
    workers: "工作节点",
    find: "查找",
    findHint: "主机、实例、版本或编号",
    state: "状态",
    all: "全部",
    found: (count, all, max) =>
      all === 0
        ? "还没有工作节点 ID 被使用过。"
        : `共有 ${number(all)} 个工作节点 ID 被使用过，此处为其中 ${number(count)} 个。${count > max ? `只显示前 ${number(max)} 个。` : ""}`,
    columns: ["工作节点", "状态", "主机", "进程启动于", "预留至（UTC）", "版本"],
    windowLeft: (ms) => `剩余 ${(ms / 1_000).toFixed(1)} 秒`,
    states: { held: "使用中", released: "已释放", expired: "已过期", quarantined: "隔离中", unreadable: "无法读取" },
    own: "此服务器",
    freeAt: (time) => `自 ${time} 起可用`,
    ago: (span) => `${spanWords(span)}前`,
  },
};
