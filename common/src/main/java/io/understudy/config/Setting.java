package io.understudy.config;

import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * One setting: its key, type, default, bounds and meaning. {@link Binder} makes them of records.
 *
 * <p>Keys are dotted, {@code feed.stallTimeout}. One segment may be {@code *}, in place of a name that the operator
 * chooses ({@code mirrors.*.sink.type}). Rows of something that occurs in several places are kept relative and put
 * {@linkplain #under below} the place.
 *
 * <p>Invariant CF3: a secret is never shown and never read from a flag.
 *
 * <p>Invariant CF3b: passwords, tokens and keys appear in no argument, log, page or error, whatever fails.
 *
 * @param optional whether it may be left out without having a default
 * @param secret whether the value is never shown, and never taken from flags, which other users can see
 * @param former earlier key, still accepted with a warning; null for none
 */
public record Setting<T>(
        String key,
        SettingType<T> type,
        String doc,
        boolean optional,
        boolean secret,
        @Nullable T defaultValue,
        @Nullable T least,
        @Nullable T most,
        @Nullable String example,
        Consumer<T> check,
        @Nullable String former) {

    /** The rows, with their keys below {@code prefix}, which may end in {@code *}. */
    public static List<Setting<?>> under(String prefix, List<Setting<?>> rows) {
        return rows.stream().<Setting<?>>map(row -> row.under(prefix)).toList();
    }

    public Setting<T> under(String prefix) {
        return new Setting<>(
                prefix + "." + key,
                type,
                doc,
                optional,
                secret,
                defaultValue,
                least,
                most,
                example,
                check,
                former == null ? null : prefix + "." + former);
    }

    /** May be left out; read with {@link Configuration#find}. */
    public Setting<T> optionally() {
        return new Setting<>(key, type, doc, true, secret, defaultValue, least, most, example, check, former);
    }

    /** The environment variable that overrides it; the name in capitals replaces a {@code *}. */
    public String variable() {
        return Variables.name(key);
    }

    /** The allowed values, in words. */
    public String allowed() {
        if (least == null || most == null) {
            return type.allowed();
        }
        return type.allowed() + ", from " + type.printer().apply(least) + " to "
                + type.printer().apply(most);
    }

    boolean isRequired() {
        return !optional && defaultValue == null;
    }

    Optional<String> defaultText() {
        return Optional.ofNullable(defaultValue).map(type.printer());
    }

    /**
     * Reads a value.
     *
     * @throws IllegalArgumentException if it isn't allowed; the message is the reason, or empty
     */
    T parse(Given given) {
        T value;
        try {
            value = type.parse(given);
        } catch (SettingType.ExplainedException e) {
            throw e;
        } catch (IllegalArgumentException | ArithmeticException e) {
            throw new IllegalArgumentException("", e);
        }
        if (type.order() != null && least != null && most != null) {
            if (type.order().compare(value, least) < 0 || type.order().compare(value, most) > 0) {
                throw new IllegalArgumentException("");
            }
        }
        check.accept(value);
        return value;
    }
}
