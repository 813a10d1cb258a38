import { BlockList, isIP } from "node:net";
import { type Setting, SettingError } from "./setting.ts";
import type { SettingBase } from "./setting-kinds.ts";

const hint =
  "networks such as 10.0.0.0/8, 192.0.2.7 or 2001:db8::/32, separated by commas, each smaller than all addresses";

/** A setting that takes addresses and networks in CIDR notation, `10.0.0.0/8,192.0.2.7`. */
export function networks(base: SettingBase): Setting<readonly string[]> {
  return {
    placeholder: "NETWORK,...",
    ...base,
    parse: (text) => {
      const parts = [...new Set(text.split(",").map((part) => part.trim()))];
      if (!parts.every(isNetwork)) throw new SettingError(hint);
      return parts;
    },
    format: (value) => value.join(","),
  };
}

/** A network of all addresses would let each caller choose the address that it is known by. */
function isNetwork(text: string): boolean {
  const [, address, digits] = /^([0-9a-fA-F.:]+)(?:\/(\d{1,3}))?$/.exec(text) ?? [];
  const version = address === undefined ? 0 : isIP(address);
  if (version === 0) return false;
  const bits = digits === undefined ? undefined : Number(digits);
  return bits === undefined || (bits > 0 && bits <= (version === 4 ? 32 : 128));
}

/** The addresses of some networks. An IPv4 address in IPv6 notation is that IPv4 address. */
export class Networks {
  readonly #list = new BlockList();

  /** @param texts - The networks, as the setting has parsed them. */
  constructor(texts: readonly string[]) {
    for (const text of texts) {
      const [address = "", bits] = text.split("/");
      const family = familyOf(address);
      if (bits === undefined) this.#list.addAddress(address, family);
      else this.#list.addSubnet(address, Number(bits), family);
    }
  }

  /** Whether an address belongs to one of them; a text that is not an address does not. */
  has(address: string): boolean {
    return isIP(address) > 0 && this.#list.check(address, familyOf(address));
  }
}

function familyOf(address: string): "ipv4" | "ipv6" {
  return isIP(address) === 4 ? "ipv4" : "ipv6";
}
