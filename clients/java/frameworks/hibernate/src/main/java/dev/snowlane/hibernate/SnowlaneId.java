package dev.snowlane.hibernate;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.hibernate.annotations.IdGeneratorType;

/** Used beside {@code @Id}, on a {@code long} or {@code Long}: Snowlane provides the ID before the insert. */
@IdGeneratorType(SnowlaneIdGenerator.class)
@Retention(RetentionPolicy.RUNTIME)
@Target({ElementType.FIELD, ElementType.METHOD})
public @interface SnowlaneId {}
