package io.understudy.config;

import java.nio.file.Path;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The validated settings of a process, or of one part of it. Immutable.
 *
 * <p>{@link #at} returns one group, in which settings have their relative keys.
 *
 * <p>Invariant CF1: a loaded configuration is valid as a whole; all problems are reported together, with place, key,
 * value and allowed values.
 */
public final class Configuration {

    private final Values values;
    private final String prefix;

    Configuration(Values values, String prefix) {
        this.values = values;
        this.prefix = prefix;
    }

    /**
     * The settings and values of every key.
     *
     * @param rows the row of each concrete key
     * @param valid the values, defaults included
     * @param refused keys with a value that is not allowed, or without a required value
     */
    record Values(Map<String, Setting<?>> rows, Map<String, Object> valid, Set<String> refused, Set<String> given) {}

    /**
     * Reads, merges and checks everything; flags win over the environment, which wins over the file.
     *
     * @param file null for none
     * @param environment of the process; only {@code UNDERSTUDY_…} is read
     * @param flags values by key
     * @throws ConfigurationException with all problems
     * @throws IllegalArgumentException if the rows themselves clash
     */
    public static Configuration load(
            @Nullable Path file,
            Map<String, String> environment,
            Map<String, String> flags,
            Collection<Setting<?>> settings,
            Check... checks) {
        return new Loader(new Schema(settings)).load(file, environment, flags, List.of(checks));
    }

    /** Returns the number of keys of a file that are not among the settings. The file may be of another kind. */
    public static long unknown(Path file, Collection<Setting<?>> settings) {
        return new Loader(new Schema(settings)).unknown(file);
    }

    /**
     * The value of a setting that is required or has a default.
     *
     * @throws IllegalArgumentException if no such setting was loaded, or it may be absent and is
     */
    public <T> T get(Setting<T> setting) {
        return find(setting)
                .orElseThrow(() -> new IllegalArgumentException("optional setting is not set: " + key(setting)));
    }

    /** The value of a setting, if it was given or has a default. */
    public <T> Optional<T> find(Setting<T> setting) {
        String key = key(setting);
        Setting<?> row = values.rows().get(key);
        if (row == null || !row.type().name().equals(setting.type().name())) {
            throw new IllegalArgumentException("setting is not loaded: " + key);
        }
        if (values.refused().contains(key)) {
            throw new RefusedException();
        }
        // The row read it, and this setting's type is the row's.
        @SuppressWarnings("unchecked")
        T value = (T) values.valid().get(key);
        return Optional.ofNullable(value);
    }

    /** Returns the file that a secret was read from. Empty if the value was given directly, or not at all. */
    public Optional<Path> fileOf(Setting<?> secret) {
        return find(Schema.companion(secret));
    }

    /** Whether the setting was given, so that its value is not a default. */
    public boolean isGiven(Setting<?> setting) {
        return values.given().contains(key(setting));
    }

    /** Whether the setting has a value. */
    public boolean has(Setting<?> setting) {
        return find(setting).isPresent();
    }

    /** The part below a group, such as {@code source} or {@code mirrors.orders}. */
    public Configuration at(String group) {
        return new Configuration(values, prefix + group + ".");
    }

    /**
     * The record of this part's settings.
     *
     * @throws IllegalArgumentException for a combination that the record does not accept
     */
    public <R extends Record> R bind(Class<R> type) {
        return bind(type, Map.of());
    }

    /** Likewise, with these values of components that are no settings, or not set, by name. */
    public <R extends Record> R bind(Class<R> type, Map<String, ?> others) {
        return Binder.bind(type, this, others);
    }

    /** Likewise; empty unless one of the record's settings without a default is set. */
    public <R extends Record> Optional<R> find(Class<R> type) {
        return Binder.find(type, this);
    }

    /**
     * Creates an object from this part.
     *
     * @param maker throws an {@link IllegalArgumentException} for an invalid combination
     * @throws IllegalArgumentException the same, with this part's key
     */
    public <T> T make(Supplier<T> maker) {
        try {
            return maker.get();
        } catch (PlacedException e) {
            throw e;
        } catch (IllegalArgumentException e) {
            if (prefix.isEmpty()) {
                throw e;
            }
            throw new PlacedException(prefix.substring(0, prefix.length() - 1), e);
        }
    }

    /** The names used in place of a group's {@code *}, in the order of the file. */
    public List<String> names(String group) {
        String before = prefix + group + ".";
        Set<String> names = new LinkedHashSet<>();
        values.rows().forEach((key, row) -> {
            int star = row.key().indexOf('*');
            if (star == before.length() && key.startsWith(before)) {
                Schema.name(row, key).ifPresent(names::add);
            }
        });
        return List.copyOf(names);
    }

    /** Values by key, for a log; secrets are hidden. */
    @Override
    public String toString() {
        Map<String, String> shown = new TreeMap<>();
        values.valid().forEach((key, value) -> {
            Setting<?> row = values.rows().get(key);
            if (row != null && key.startsWith(prefix)) {
                shown.put(key, print(row, value));
            }
        });
        return shown.toString();
    }

    String key(Setting<?> setting) {
        return prefix + setting.key();
    }

    private static <T> String print(Setting<T> row, Object value) {
        if (row.secret()) {
            return "(secret)";
        }
        // Only what this row has read is kept under its key.
        @SuppressWarnings("unchecked")
        T own = (T) value;
        return row.type().printer().apply(own);
    }

    /** A check reads a value that was rejected before. */
    static final class RefusedException extends RuntimeException {}

    /** A combination of settings of one group is invalid. */
    static final class PlacedException extends IllegalArgumentException {
        private final String group;

        PlacedException(String group, IllegalArgumentException cause) {
            super(cause.getMessage(), cause);
            this.group = group;
        }

        String group() {
            return group;
        }
    }
}
