package dev.snowlane.jackson;

import com.fasterxml.jackson.annotation.JacksonAnnotationsInside;
import com.fasterxml.jackson.databind.annotation.JsonDeserialize;
import com.fasterxml.jackson.databind.annotation.JsonSerialize;
import com.fasterxml.jackson.databind.ser.std.ToStringSerializer;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * On a list, set or map of {@code Long}, or on a {@code Long[]}: as {@link IdAsString}, for each element or value.
 */
@JacksonAnnotationsInside
@JsonSerialize(contentUsing = ToStringSerializer.class)
@JsonDeserialize(contentUsing = Jackson2IdDeserializer.class)
@tools.jackson.databind.annotation.JsonSerialize(contentUsing = tools.jackson.databind.ser.std.ToStringSerializer.class)
@tools.jackson.databind.annotation.JsonDeserialize(contentUsing = Jackson3IdDeserializer.class)
@Retention(RetentionPolicy.RUNTIME)
@Target({ElementType.FIELD, ElementType.METHOD, ElementType.PARAMETER, ElementType.ANNOTATION_TYPE})
public @interface IdsAsStrings {}
