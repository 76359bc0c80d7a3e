package io.understudy.config;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.util.function.Consumer;

/**
 * Makes a component of a settings record a setting; see {@link Binder} for its type.
 *
 * <p>Values are written as in a configuration file.
 */
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.RECORD_COMPONENT)
public @interface Configured {

    /** Text of the settings reference. */
    String value();

    /** The key, if it is not the name of the component in the record's {@link Group}. */
    String key() default "";

    /** The default. A component without one that is not optional is required. */
    String byDefault() default "";

    /** The minimum and the maximum, both inclusive: {@code 100ms..1d}. */
    String range() default "";

    /** Value in the sample file where there is no default. */
    String example() default "";

    /** An earlier key, accepted with a warning. */
    String former() default "";

    /** Whether a number is a number of bytes. */
    boolean bytes() default false;

    /** Whether the value is never shown and not accepted as a flag. */
    boolean secret() default false;

    /** Whether it may be absent, like every nullable, {@code Optional} or {@code Map} component. */
    boolean optional() default false;

    /** A condition on the value, which throws an {@link IllegalArgumentException} with what is allowed. */
    Class<? extends Consumer<?>> check() default None.class;

    /** The group of a record's settings. For a map: the group with one such record per name. */
    @Retention(RetentionPolicy.RUNTIME)
    @Target({ElementType.TYPE, ElementType.RECORD_COMPONENT})
    @interface Group {
        String value();
    }

    /** No condition. */
    final class None implements Consumer<Object> {
        @Override
        public void accept(Object value) {}
    }
}
