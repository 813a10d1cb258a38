import { copyFileSync, mkdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { blocksOf } from "./page-blocks.ts";
import { runCommand } from "./run-command.ts";
import { rustEnvironment } from "./rust-client.ts";

/**
 * Builds a program of the lines for Rust in docs/frameworks.md. It prints 8 times as many IDs as the variable `EACH`
 * says, from the servers of `SNOWLANE_URL`.
 *
 * @param project - A folder to be made.
 * @returns The path of the program.
 */
export async function buildRustFleet(project: string): Promise<string> {
  const [lines = ""] = blocksOf("docs/frameworks.md", "rust");
  const client = resolve("clients/rust");
  mkdirSync(join(project, "src"), { recursive: true });
  const manifest = `[package]
name = "fleet"
version = "0.0.0"
edition = "2024"

[dependencies]
snowlane = { path = "${client}" }
tokio = { version = "1", features = ["macros", "rt-multi-thread", "time"] }
`;
  writeFileSync(join(project, "Cargo.toml"), manifest);
  copyFileSync(join(client, "Cargo.lock"), join(project, "Cargo.lock"));
  writeFileSync(join(project, "src/main.rs"), program(lines));
  const env = await rustEnvironment();
  await runCommand("cargo", ["build", "--quiet"], { cwd: project, env });
  return join(env.CARGO_TARGET_DIR, "debug/fleet");
}

/** Eight tasks that share the buffer of these lines; a call that fails is made again. */
const program = (lines: string): string => `use std::{sync::Arc, time::Duration};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    ${lines}
    println!("{id}");
    let each: usize = std::env::var("EACH")?.parse()?;
    let ids = Arc::new(ids);
    let mut tasks = tokio::task::JoinSet::new();
    for task in 0..8 {
        let ids = Arc::clone(&ids);
        tasks.spawn(async move {
            for _ in usize::from(task == 0)..each {
                loop {
                    match ids.next_id().await {
                        Ok(id) => break println!("{id}"),
                        Err(error) => eprintln!("{error}"),
                    }
                }
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        });
    }
    tasks.join_all().await;
    Ok(())
}
`;
