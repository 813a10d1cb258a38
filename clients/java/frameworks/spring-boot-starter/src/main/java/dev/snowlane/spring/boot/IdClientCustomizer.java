package dev.snowlane.spring.boot;

import dev.snowlane.client.IdClientBuilder;

/** A bean of this type changes the client before it is made: tokens by a function, interceptors for traces. */
@FunctionalInterface
public interface IdClientCustomizer {

  /** Called once, after the properties {@code snowlane.*} were applied. */
  void customize(IdClientBuilder builder);
}
