import { groupDigits as number } from "../../../src/text/group-digits.ts";
import type { ProofTexts } from "./proof-en.ts";

/** Chinese, translated without a native reader. */

const seconds = (ms: number): string => `${(ms / 1_000).toFixed(2)} 秒`;

const whats: ProofTexts["drop"]["whats"] = {
  back: "时钟回拨 1.2 秒",
  ahead: "时钟拨快 1.2 秒",
  pause: "暂停 3 秒",
  kill: "强制终止",
  cut: "断网 3 秒",
  wipe: "清空存储",
  older: "存储恢复旧数据",
  failover: "存储故障切换",
};

const waitCauses = {
  mark: "等待自己的时钟越过该节点 ID 的水位",
  quarantine: "等待隔离期结束",
  silence: "等待确认另一个进程已经消失",
  "free-worker-id": "等待空闲的节点 ID",
};

const granted = (slot: number, worker: number): string => `进程 ${slot} 获得节点 ID ${worker}。`;

const below = {
  "own-clock": "它从自己的时钟开始，而不是从水位开始，即",
  "no-floor": "水位已随数据丢失，而它不等隔离期结束，便开始于",
  "no-quarantine": "水位已随数据丢失，又没有算出高于所有丢失水位的时间，便开始于",
  "identity-is-trusted": "存储已是另一个，数据较旧，它却当作同一个，便开始于",
};

const happened: ProofTexts["story"]["happened"] = (happening, rule) => {
  switch (happening.kind) {
    case "fault":
      return {
        back: "",
        ahead: "",
        pause: `进程 ${happening.slot} 停顿 3 秒，自己并不知道。`,
        kill: `进程 ${happening.slot} 被强制终止。`,
        cut: `进程 ${happening.slot} 与存储之间的网络中断 3 秒。`,
        wipe: "存储被清空：所有记录都消失了。",
        older: "存储恢复到较旧的数据副本。",
        failover: "副本接替存储，可能缺少最后的写入。",
      }[happening.what];
    case "clock":
      return `进程 ${happening.slot} 的时钟被${happening.byMs < 0 ? "拨回" : "拨快"} ${seconds(Math.abs(happening.byMs))}。`;
    case "started":
      return `进程 ${happening.slot} 重新启动。`;
    case "marks-lost":
      return `存储中不再有节点 ID ${happening.workers.join("、")} 的水位。`;
    case "granted":
      return granted(happening.slot, happening.worker);
    case "granted-below": {
      const { slot, worker, fromMs, markMs } = happening;
      const begins = `${below[rule ?? "own-clock"]} ${seconds(fromMs)}`;
      return `${granted(slot, worker)}存储曾为它确认水位 ${seconds(markMs)}：低于它的任何时间都可能已在某个 ID 中。${begins}。若规则有效，它会从 ${seconds(markMs)} 或更晚开始。`;
    }
    case "grant-ended":
      return {
        lost: `进程 ${happening.slot} 发现自己的节点 ID 已被接管，停止发号。`,
        lapsed: `进程 ${happening.slot} 用完了预留的时间，停止发号。`,
        regressed: `进程 ${happening.slot} 发现存储丢失了数据，停止发号。`,
      }[happening.end];
    case "waits":
      return `进程 ${happening.slot} ${waitCauses[happening.cause]}。`;
    case "quarantine":
      return `进程 ${happening.slot} 写入隔离期，直到 ${seconds(happening.untilMs)}：高于可能丢失的所有水位。`;
    case "equal":
      return `进程 ${happening.slot} 发出了在 ${seconds(happening.firstAtMs)} 已经发过的 ID：本次运行有 ${number(happening.count)} 个 ID 重复。`;
    case "healed":
      return "所有故障结束。";
  }
};

/** Chinese. */
export const proofZh: ProofTexts = {
  heading: "试着让它发出重复的 ID",
  lead: "下面由服务器自己的代码发号，时钟、网络和存储都是模拟的。您可以加入故障，或去掉一条规则。这是模拟：它只是测试，并不是证明。",
  copyLink: "复制本次运行的链接",
  copied: { done: "已复制", refused: "未能复制：请用地址栏" },
  computing: "正在计算。",
  problems: {
    slow: "运行超过两秒，已被终止。",
    missing: "无法加载模拟程序，请重新加载页面。",
    failed: (detail) => `代码在本次运行中出错：${detail}`,
  },
  figures: {
    label: "本次运行的结果",
    whole: "Snowlane，全部规则",
    without: "Snowlane，去掉一条规则",
    simple: "简单生成器，同样的故障",
    silence: "最长无 ID 的时间",
    ids: (count) => `${number(count)} 个 ID`,
    none: "没有重复",
    equal: (count, firstMs) => `${number(count)} 个重复，首个在 ${seconds(firstMs)}`,
    silenceWhole: "这是永不重复的代价",
    silenceWithout: "已去掉一条规则",
    seconds,
  },
  player: {
    label: "运行",
    play: "播放",
    pause: "暂停",
    previous: "上一事件",
    next: "下一事件",
    time: "运行时间",
    at: (atMs, endMs) => `${seconds(atMs)}，共 ${seconds(endMs)}`,
    speed: "速度",
    seed: "种子",
    another: "换一个种子",
    store: "存储",
    stores: { server: "可能丢失数据的服务器", file: "不丢数据的文件" },
  },
  lanes: {
    picture: "本次运行的图示，下面的表格内容相同。",
    process: (slot) => `进程 ${slot}`,
    store: "存储",
    marks: "水位",
    worker: (worker) => `节点 ${worker}`,
    waits: "等待",
    equal: "同一个 ID 出现两次",
    equalIds: (first, more) => (more === 0 ? first : `${first}，另有 ${number(more)} 个`),
    faults: {
      back: "时钟回拨",
      ahead: "时钟拨快",
      pause: "暂停",
      kill: "终止",
      cut: "断网",
      wipe: "清空存储",
      older: "恢复旧数据",
      failover: "故障切换",
    },
  },
  drop: {
    title: (atMs) => `在 ${seconds(atMs)} 加入故障`,
    target: "目标进程",
    whats,
    late: (ms) => `故障只能在 ${seconds(ms)} 之前加入，请先回退。`,
    full: (count) => `一次运行最多有 ${count} 个故障。`,
    keeps: "文件保留已确认的一切：只有服务器才会被清空、恢复旧数据或故障切换。",
    dropped: "本次运行的故障",
    none: "还没有。",
    one: (what, slot, atMs) => `${whats[what]}，进程 ${slot}，${seconds(atMs)}`,
    remove: (what, slot, atMs) => `移除：${whats[what]}，进程 ${slot}，${seconds(atMs)}`,
    clear: "全部移除",
  },
  rules: {
    title: "去掉一条规则",
    all: "全部规则有效",
    names: {
      "own-clock": "无论时钟如何，继任者从水位开始",
      "no-floor": "隔离期结束前不授予节点 ID",
      "no-quarantine": "丢失之后的授予高于所有丢失的数据",
      "identity-is-trusted": "标识不同的存储就是另一个存储",
    },
    safety: {
      "own-clock":
        "只有低于存储已向该进程持久确认的水位的时间戳，进程才可以使用；无论自己的时钟如何，继任者从水位开始。",
      "no-floor": "授予开始于以下各项的最大值：水位、时钟、隔离期的结束，以及该进程自己用此节点 ID 发出的最后时间戳。",
      "no-quarantine": "新的授予开始于首次发现丢失之后，再加上最长的窗口、提前量和两个时钟的误差",
      "identity-is-trusted": "重新启动过、换成另一个或被清空的存储约束新的授予，而不约束续期",
    },
    harmless: "在本次运行中，去掉规则也没有重复。多数运行不需要它。以下运行需要：",
    shows: "需要此规则的运行：",
    seed: (seed) => `种子 ${seed}`,
  },
  story: {
    title: "发生了什么",
    mark: "水位是存储为每个节点 ID 保存的时间，高于该节点的任何 ID 所能带有的时间。进程只使用低于存储向它确认的水位的时间，下一个进程从水位开始。",
    happened,
    seconds,
  },
  table: {
    title: "以表格显示本次运行",
    columns: ["谁", "从", "到", "状态"],
    grant: (worker, count) => `持有节点 ID ${worker}，发出 ${number(count)} 个 ID`,
    waits: "等待节点 ID",
    stops: { kill: "已终止", pause: "停顿", cut: "无法访问存储" },
  },
  words: {
    title: "哪些是真实的，哪些是模拟的",
    texts: [
      ["真实：", "src/lease、src/worker 和 src/snowflake 的代码，与服务器运行的相同。只有这份副本可以关闭四条规则。"],
      ["模拟：", "时间、时钟、网络、存储和终止。全部由种子决定，因此链接让每个人看到同样的运行。"],
      [
        "简单生成器：",
        "“原理”页的程序，节点 ID 固定，每毫秒 5 个 ID，负载比上面的进程更高。它遇到同样的时钟变化、暂停和终止，没有存储可以丢失。",
      ],
      [
        "未包含：",
        "真实存储的错误、丢失已确认数据的内核、运行中机器的副本，以及没人想到的一切。模拟能找到错误，不能证明没有错误。",
      ],
      ["其余：", "docs/safety.md 有论证，model/ 有访问每个状态的协议模型，test/simulation 有测试运行的数百万次模拟。"],
    ],
  },
};
