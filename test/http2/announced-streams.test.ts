import { once } from "node:events";
import { connect } from "node:http2";
import { expect, onTestFinished, test } from "vitest";
import { runServer } from "../support/processes/running-server.ts";

test.each(["engine", "node"])(
  "%s announces the streams of a connection that --http2-limits gives, and 100 without",
  async (http2) => {
    const announced = async (flags: Readonly<Record<string, string>>) => {
      const { url } = await runServer({ http2, ...flags });
      const session = connect(url);
      onTestFinished(() => session.destroy());
      await once(session, "remoteSettings");
      return session.remoteSettings.maxConcurrentStreams;
    };
    expect(await announced({})).toBe(100);
    expect(await announced({ http2Limits: "concurrentStreamsMax=7" })).toBe(7);
  },
);
