/** Fakes for tests of a program's own: they need no server, and no time passes. */
@NullMarked
package dev.snowlane.client.testing;

import org.jspecify.annotations.NullMarked;
