CREATE TABLE snowlane_sequence_schema (step INT NOT NULL PRIMARY KEY);
CREATE TABLE snowlane_sequence (namespace VARBINARY(63) NOT NULL, name VARBINARY(63) NOT NULL,
  start_value BIGINT NOT NULL, increment BIGINT NOT NULL, value_max BIGINT NOT NULL,
  allocation VARBINARY(20) NOT NULL, step_min BIGINT NOT NULL, step_max BIGINT NOT NULL,
  period VARBINARY(20) NOT NULL, time_zone VARBINARY(100) NOT NULL, text_template VARBINARY(400) NOT NULL,
  description VARBINARY(800) NOT NULL, disabled BOOLEAN NOT NULL, created_ms BIGINT NOT NULL,
  updated_ms BIGINT NOT NULL, sequence_id VARBINARY(32) NOT NULL, PRIMARY KEY (namespace, name)) ENGINE = InnoDB;
CREATE TABLE snowlane_sequence_counter (namespace VARBINARY(63) NOT NULL, name VARBINARY(63) NOT NULL,
  period_key VARBINARY(10) NOT NULL, used_count BIGINT NOT NULL, write_id VARBINARY(32) NOT NULL,
  PRIMARY KEY (namespace, name, period_key)) ENGINE = InnoDB;
CREATE TABLE snowlane_sequence_place (namespace VARBINARY(63) NOT NULL PRIMARY KEY,
  identity VARBINARY(200) NOT NULL, stopped VARBINARY(2000) NOT NULL, revision BIGINT NOT NULL,
  open_ms BIGINT NOT NULL, raised_count BIGINT NOT NULL, raised_until_ms BIGINT NOT NULL) ENGINE = InnoDB;
INSERT INTO snowlane_sequence_schema (step) VALUES (1);
ALTER TABLE snowlane_sequence_place ADD COLUMN store_id VARBINARY(32) NOT NULL DEFAULT '',
  ADD COLUMN stripe_index INT NOT NULL DEFAULT 0, ADD COLUMN stripe_count INT NOT NULL DEFAULT 1,
  ADD COLUMN members VARBINARY(2200) NOT NULL DEFAULT '';
INSERT INTO snowlane_sequence_schema (step) VALUES (2);
