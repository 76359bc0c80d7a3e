package io.understudy.config;

import java.nio.file.Path;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** All rows of a process, and how keys and variables relate to them. Immutable. */
final class Schema {

    /** Names that are allowed in place of a {@code *}. */
    static final Pattern NAME = Pattern.compile("[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?");

    private static final Pattern KEY = Pattern.compile("[a-z][A-Za-z0-9]*(\\.([a-z][A-Za-z0-9]*|\\*))*");
    static final String FILE_SUFFIX = "File";

    private final Map<String, Setting<?>> byKey = new LinkedHashMap<>();
    private final Map<String, Setting<?>> byVariable = new HashMap<>();
    private final Map<String, Setting<?>> belowGroup = new HashMap<>();

    /**
     * Takes the rows, in their order.
     *
     * @throws IllegalArgumentException if two rows clash or a key is malformed: a mistake in the program
     */
    Schema(Collection<Setting<?>> settings) {
        for (Setting<?> setting : settings) {
            add(setting);
            if (setting.secret()) {
                add(companion(setting));
            }
        }
    }

    /** The setting of the file that a secret can be read from. */
    static Setting<Path> companion(Setting<?> secret) {
        String doc = "File containing the value of " + secret.key() + ".";
        return new Setting<>(
                secret.key() + FILE_SUFFIX,
                SettingType.PATH,
                doc,
                true,
                false,
                null,
                null,
                null,
                null,
                path -> {},
                null);
    }

    private void add(Setting<?> setting) {
        String key = setting.key();
        if (!KEY.matcher(key).matches() || key.indexOf('*') != key.lastIndexOf('*') || key.endsWith("*")) {
            throw new IllegalArgumentException("invalid setting key: " + key);
        }
        Stream<Setting<?>> groups = IntStream.range(0, key.length())
                .filter(at -> key.charAt(at) == '.')
                .mapToObj(dot -> byKey.get(key.substring(0, dot)));
        Stream.concat(groups, Stream.of(byVariable.get(setting.variable()), belowGroup.get(key)))
                .filter(Objects::nonNull)
                .forEach(other -> {
                    throw new IllegalArgumentException("conflicting settings: " + other.key() + " and " + key);
                });
        byKey.put(key, setting);
        byVariable.put(setting.variable(), setting);
        for (int dot = key.indexOf('.'); dot > 0; dot = key.indexOf('.', dot + 1)) {
            belowGroup.put(key.substring(0, dot), setting);
        }
    }

    Collection<Setting<?>> settings() {
        return byKey.values();
    }

    /** The row of a key, which has a name in place of the {@code *}. */
    Optional<Setting<?>> row(String key) {
        Setting<?> plain = byKey.get(key);
        if (plain != null && !key.contains("*")) {
            return Optional.of(plain);
        }
        return byKey.values().stream().filter(row -> name(row, key).isPresent()).findFirst();
    }

    /** The key that replaced a former one. */
    Optional<String> current(String former) {
        for (Setting<?> row : byKey.values()) {
            String name = row.former();
            if (name == null) {
                continue;
            }
            if (name.equals(former)) {
                return Optional.of(row.key());
            }
            Optional<String> star = name(name, former);
            if (star.isPresent()) {
                return star.map(found -> row.key().replace("*", found));
            }
        }
        return Optional.empty();
    }

    /**
     * One key of a group of properties.
     *
     * @param group key of the row, with a name for the {@code *}
     */
    record Property(Setting<?> row, String group, String name) {}

    private static boolean hasProperties(Setting<?> row) {
        return row.type().equals(SettingType.PROPERTIES);
    }

    /** The property with that key. */
    Optional<Property> property(String key) {
        String[] segments = key.split("\\.", -1);
        for (Setting<?> row : byKey.values()) {
            int depth = row.key().split("\\.", -1).length;
            if (hasProperties(row) && depth < segments.length) {
                String group = String.join(".", List.of(segments).subList(0, depth));
                if (row.key().equals(group) || name(row, group).isPresent()) {
                    return Optional.of(new Property(row, group, key.substring(group.length() + 1)));
                }
            }
        }
        return Optional.empty();
    }

    /** The name in {@code key} in place of the row's {@code *}; empty for another row's key. */
    static Optional<String> name(Setting<?> row, String key) {
        return name(row.key(), key);
    }

    private static Optional<String> name(String pattern, String key) {
        int star = pattern.indexOf('*');
        if (star < 0) {
            return Optional.empty();
        }
        String before = pattern.substring(0, star);
        String after = pattern.substring(star + 1);
        if (!key.startsWith(before) || !key.endsWith(after) || key.length() <= before.length() + after.length()) {
            return Optional.empty();
        }
        String name = key.substring(before.length(), key.length() - after.length());
        return name.contains(".") ? Optional.empty() : Optional.of(name);
    }

    /** The key of a variable; {@code names} are those the file uses, by group. */
    Optional<String> key(String variable, Map<String, Set<String>> names) {
        return single(variable, names).or(() -> byKey.values().stream()
                .filter(row -> hasProperties(row))
                .flatMap(row -> property(variable, row, names).stream())
                .findFirst());
    }

    /** A variable of a property: {@code …_PRODUCER_LINGER_MS} is {@code producer.linger.ms}. */
    private Optional<String> property(String variable, Setting<?> group, Map<String, Set<String>> names) {
        String last =
                Variables.segment(group.key().substring(Math.max(0, group.key().lastIndexOf('.')))) + "_";
        // A mirror's name may contain the group's.
        for (int at = variable.indexOf(last); at >= 0; at = variable.indexOf(last, at + 1)) {
            int end = at + last.length();
            Optional<String> key = single(variable.substring(0, end - 1), names)
                    .filter(found -> row(found).filter(group::equals).isPresent());
            if (key.isPresent() && end < variable.length()) {
                String property =
                        variable.substring(end).toLowerCase(Locale.ROOT).replace('_', '.');
                return key.map(found -> found + "." + property);
            }
        }
        return Optional.empty();
    }

    private Optional<String> single(String variable, Map<String, Set<String>> names) {
        Setting<?> plain = byVariable.get(variable);
        if (plain != null && !plain.key().contains("*")) {
            return Optional.of(plain.key());
        }
        for (Setting<?> row : byKey.values()) {
            int star = row.key().indexOf('*');
            if (star < 0) {
                continue;
            }
            String before = Variables.name(row.key().substring(0, star));
            String after = Variables.segment(row.key().substring(star + 1));
            if (variable.startsWith(before)
                    && variable.endsWith(after)
                    && variable.length() > before.length() + after.length()) {
                String segment = variable.substring(before.length(), variable.length() - after.length());
                String name = names.getOrDefault(group(row), Set.of()).stream()
                        .filter(known -> Variables.segment(known).equals(segment))
                        .findFirst()
                        .orElseGet(() -> segment.toLowerCase(Locale.ROOT).replace('_', '-'));
                return Optional.of(row.key().replace("*", name));
            }
        }
        return Optional.empty();
    }

    /** The part before the {@code *}: {@code mirrors} for {@code mirrors.*.sink.type}. */
    static String group(Setting<?> row) {
        return row.key().substring(0, row.key().indexOf('*') - 1);
    }

    /** Whether a variable has the prefix of a group's settings. */
    boolean isInGroup(String variable) {
        return byKey.values().stream()
                .map(Setting::key)
                .filter(key -> key.contains("."))
                .anyMatch(key -> variable.startsWith(Variables.name(key.substring(0, key.indexOf('.') + 1))));
    }

    /** Whether {@code key} is only a prefix of keys. */
    boolean isGroup(String key) {
        return byKey.values().stream().anyMatch(row -> {
            String[] wanted = key.split("\\.", -1);
            String[] known = row.key().split("\\.", -1);
            if (wanted.length >= known.length) {
                return false;
            }
            for (int i = 0; i < wanted.length; i++) {
                if (!known[i].equals(wanted[i]) && !known[i].equals("*")) {
                    return false;
                }
            }
            return true;
        });
    }
}
