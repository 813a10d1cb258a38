CREATE TABLE snowlane_sequence_schema (step INT NOT NULL PRIMARY KEY);
CREATE TABLE snowlane_sequence (namespace text COLLATE "C" NOT NULL, name text COLLATE "C" NOT NULL,
  start_value bigint NOT NULL, increment bigint NOT NULL, value_max bigint NOT NULL, allocation text NOT NULL,
  step_min bigint NOT NULL, step_max bigint NOT NULL, period text NOT NULL, time_zone text NOT NULL,
  text_template text NOT NULL, description text NOT NULL, disabled boolean NOT NULL, created_ms bigint NOT NULL,
  updated_ms bigint NOT NULL, sequence_id text NOT NULL, PRIMARY KEY (namespace, name));
CREATE TABLE snowlane_sequence_counter (namespace text COLLATE "C" NOT NULL, name text COLLATE "C" NOT NULL,
  period_key text COLLATE "C" NOT NULL, used_count bigint NOT NULL, write_id text NOT NULL,
  PRIMARY KEY (namespace, name, period_key));
CREATE TABLE snowlane_sequence_place (namespace text COLLATE "C" NOT NULL PRIMARY KEY, identity text NOT NULL,
  stopped text NOT NULL, revision bigint NOT NULL, open_ms bigint NOT NULL, raised_count bigint NOT NULL,
  raised_until_ms bigint NOT NULL);
INSERT INTO snowlane_sequence_schema (step) VALUES (1);
ALTER TABLE snowlane_sequence_place ADD COLUMN IF NOT EXISTS store_id text NOT NULL DEFAULT '',
  ADD COLUMN IF NOT EXISTS stripe_index int NOT NULL DEFAULT 0,
  ADD COLUMN IF NOT EXISTS stripe_count int NOT NULL DEFAULT 1,
  ADD COLUMN IF NOT EXISTS members text NOT NULL DEFAULT '';
INSERT INTO snowlane_sequence_schema (step) VALUES (2);
