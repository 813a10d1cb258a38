/**
 * In the place of src/worker/claim-beside.ts and src/operator/release-expired.ts: in no run of the view the past is
 * claimed, or an operator releases a worker ID, and 4 kB are left out.
 */

export function claimBeside(): never {
  throw new Error("A run of the view claimed the past.");
}

export function releaseExpired(): never {
  throw new Error("In a run of the view an operator released a worker ID.");
}
