import type { ToolEntry } from "./tool-source.ts";

/** A server of Debian's unstable release. Where that release has moved on, its present version is fetched. */
function unstable(name: string, version: string, sha256: string, program: string, programs = program): ToolEntry {
  return {
    paths: [program],
    source: { kind: "debian", package: { name, version, sha256, unstable: { programs: [programs] } } },
    install: `apt-get install ${name}`,
  };
}

/** A program of PostgreSQL 18. One package has all of them. */
function postgres(program: string): ToolEntry {
  return unstable(
    "postgresql-18",
    "18.6-3",
    "606c4d9b24ad721c4c8d297e7f52269743004cb556efc79c41042e40d8f631aa",
    `usr/lib/postgresql/18/bin/${program}`,
    "usr/lib/postgresql/18/bin/*",
  );
}

/**
 * Newer versions than those that the suites run on by default: `npm run measure -- newest-servers`. None of them is
 * looked for on PATH.
 */
export const newestServers = {
  postgres18: postgres("postgres"),
  pg_dump18: postgres("pg_dump"),
  mysql9: unstable(
    "mysql-server-core",
    "9.7.4-2",
    "628d2d7d2dc827507bcae80677a9950766b002bec2c658cb96343d9f324f8660",
    "usr/sbin/mysqld",
  ),
  redis8: unstable(
    "redis-server",
    "5:8.0.6-3",
    "26a6df5dd2bcc6078f3f7dc7946026a48061929ad66c0c18d4573a72ddaf1cc3",
    "usr/bin/redis-server",
  ),
  valkey9: unstable(
    "valkey-server",
    "9.1.2-1",
    "a29ac13c50c5902e119c6d548fd39d285c5836df10451c23f2cb6cd59f8f002f",
    "usr/bin/valkey-server",
  ),
  nginx130: unstable(
    "nginx",
    "1.30.6-2",
    "de2674f95555968f09efbd9902273444e87328cd1426876410279c2af0a6dcdd",
    "usr/sbin/nginx",
  ),
  etcd35: unstable(
    "etcd-server",
    "3.5.30-2",
    "11a4f7e350c5020b83edff5160a6063d4e56ac9cd014d21ce8916378bf96de79",
    "usr/bin/etcd",
  ),
  etcd36: {
    paths: [],
    source: {
      kind: "go-main",
      main: {
        name: "etcd",
        module: "go.etcd.io/etcd/server/v3",
        version: "v3.6.8",
        main: `package main

import (
	"os"

	"go.etcd.io/etcd/server/v3/etcdmain"
)

func main() { etcdmain.Main(os.Args) }
`,
      },
    },
    install: "build go.etcd.io/etcd/server/v3@v3.6.8",
  },
  zookeeper39: {
    paths: ["zookeeper-3.9.*.jar"],
    source: {
      kind: "maven",
      classPath: {
        name: "zookeeper-3.9.5",
        coordinates: [
          "org.apache.zookeeper:zookeeper:3.9.5",
          "io.dropwizard.metrics:metrics-core:4.2.30",
          "org.xerial.snappy:snappy-java:1.1.10.7",
        ],
        checked: {
          file: "zookeeper-3.9.5.jar",
          sha256: "936d025db1a85f085edea25048c3f5b3de5fc29329c371a10925e3b78b0b38a0",
        },
      },
    },
    install: "mvn dependency:copy -Dartifact=org.apache.zookeeper:zookeeper:3.9.5",
  },
} as const satisfies Record<string, ToolEntry>;
