package io.understudy.config;

import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * One row: a setting's key, type, default, bounds and meaning. Required unless told otherwise.
 *
 * <p>Keys are dotted, {@code feed.stallTimeout}; one segment may be {@code *}, which stands for a name the operator
 * chooses ({@code mirrors.*.sink.type}). Rows of something that occurs in several places are kept relative and put
 * {@linkplain #under below} the place.
 *
 * <p>Invariant CF3: a secret is never shown and never read from a flag.
 *
 * <p>Invariant CF3b: passwords, tokens and keys appear in no argument, log, page or error, whatever fails.
 *
 * @param optional whether it may be left out without having a default
 * @param secret whether the value is never shown and never taken from flags
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

    /** Text that is not empty. */
    public static Setting<String> text(String key, String doc) {
        return required(key, SettingType.STRING, doc);
    }

    public static Setting<Integer> integer(String key, String doc) {
        return required(key, SettingType.INTEGER, doc);
    }

    /** A number of bytes, written {@code 64MiB}. */
    public static Setting<Long> bytes(String key, String doc) {
        return required(key, SettingType.BYTES, doc);
    }

    /** A duration to the millisecond, written {@code 200ms}, {@code 5s}, {@code 1h30m}. */
    public static Setting<Duration> duration(String key, String doc) {
        return required(key, SettingType.DURATION, doc);
    }

    public static Setting<Boolean> flag(String key, String doc) {
        return required(key, SettingType.BOOLEAN, doc);
    }

    /** One of an enum's constants, written in lower case with hyphens. */
    public static <E extends Enum<E>> Setting<E> choice(String key, Class<E> options, String doc) {
        return required(key, SettingType.choice(options), doc);
    }

    public static Setting<HostPort> hostPort(String key, String doc) {
        return required(key, SettingType.HOST_PORT, doc);
    }

    public static Setting<Path> path(String key, String doc) {
        return required(key, SettingType.PATH, doc);
    }

    /** One text or more, none of which can hold a comma. */
    public static Setting<List<String>> texts(String key, String doc) {
        return required(key, SettingType.TEXTS, doc);
    }

    /** One URL or more. */
    public static Setting<List<URI>> uris(String key, String doc) {
        return required(key, SettingType.URIS, doc);
    }

    /** Properties of a library by their own names, which follow the key: {@code producer.linger.ms}. */
    public static Setting<Map<String, String>> properties(String key, String doc) {
        return required(key, SettingType.PROPERTIES, doc).optionally();
    }

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

    public Setting<T> defaultsTo(T value) {
        return new Setting<>(key, type, doc, optional, secret, value, least, most, example, check, former);
    }

    /** May be left out; read with {@link Configuration#find}. */
    public Setting<T> optionally() {
        return new Setting<>(key, type, doc, true, secret, defaultValue, least, most, example, check, former);
    }

    /** Never shown; taken from the environment, or from a file, but not from flags, which other users can see. */
    public Setting<T> secretly() {
        return new Setting<>(key, type, doc, optional, true, defaultValue, least, most, example, check, former);
    }

    /** Both inclusive. */
    public Setting<T> between(T newLeast, T newMost) {
        if (type.order() == null) {
            throw new IllegalArgumentException("type " + type.name() + " has no order: " + key);
        }
        return new Setting<>(key, type, doc, optional, secret, defaultValue, newLeast, newMost, example, check, former);
    }

    /** Accepts another key as well, with a warning. Its variable must be the same. */
    public Setting<T> formerly(String name) {
        return new Setting<>(key, type, doc, optional, secret, defaultValue, least, most, example, check, name);
    }

    /** What the sample file shows where there is no default. */
    public Setting<T> example(String text) {
        return new Setting<>(key, type, doc, optional, secret, defaultValue, least, most, text, check, former);
    }

    /**
     * Adds a condition on the value.
     *
     * @param more throws an {@link IllegalArgumentException} that tells what is wrong and what is allowed
     */
    public Setting<T> checkedBy(Consumer<T> more) {
        return new Setting<>(
                key, type, doc, optional, secret, defaultValue, least, most, example, check.andThen(more), former);
    }

    /** The environment variable that overrides it; a {@code *} stands for the name in capitals. */
    public String variable() {
        return Variables.name(key);
    }

    /** What a value may be, in words. */
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
     * @throws IllegalArgumentException if it isn't allowed; the message is what to say beyond that, or empty
     */
    T parse(String text) {
        T value;
        try {
            value = type.parser().apply(text.strip());
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

    private static <T> Setting<T> required(String key, SettingType<T> type, String doc) {
        return new Setting<>(key, type, doc, false, false, null, null, null, null, value -> {}, null);
    }
}
