/** Fakes for users' own tests: they need no server, and no real time passes. */
@NullMarked
package dev.snowlane.client.testing;

import org.jspecify.annotations.NullMarked;
