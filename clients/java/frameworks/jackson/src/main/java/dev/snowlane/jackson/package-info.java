/** IDs as strings in JSON, with Jackson 2 and 3, where they are annotated and nowhere else. */
package dev.snowlane.jackson;
