/**
 * The control: rows whose servers go without the rule that the row is to catch, and how often their fault is injected
 * then. `npm run measure -- faults --gutted` does it to all rows.
 */
export const controls: Readonly<Record<string, number>> = {
  "kill -9 and restart in a loop, three of four servers on one store": 12,
  "a pause that no clock sees, while another server takes over the only worker ID": 1,
  "clock stepped by 1 ms to 24 h, either way, between kill -9 and restart": 4,
  "an older copy of the store file put back between kill -9 and restart": 1,
};
