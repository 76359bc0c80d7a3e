package io.understudy.config;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads the three sources once and collects all problems.
 *
 * <p>Invariant CF2: flags override variables, variables override the file, and nothing unknown is ignored.
 */
final class Loader {

    private static final Logger LOG = LoggerFactory.getLogger(Loader.class);

    private final Schema schema;
    private final List<Problem> problems = new ArrayList<>();
    private final Map<String, Given> given = new LinkedHashMap<>();
    /** Properties by name, by the key of their group. */
    private final Map<String, Map<String, Given>> properties = new LinkedHashMap<>();
    /** The names used for each {@code *}, by group. */
    private final Map<String, Set<String>> names = new LinkedHashMap<>();

    private final Map<String, Setting<?>> rows = new LinkedHashMap<>();
    private final Map<String, Object> valid = new LinkedHashMap<>();
    private final Set<String> refused = new HashSet<>();
    /** Values under a former key. */
    private final Map<String, Given> former = new LinkedHashMap<>();

    Loader(Schema schema) {
        this.schema = schema;
    }

    Configuration load(
            @Nullable Path file, Map<String, String> environment, Map<String, String> flags, List<Check> checks) {
        if (file != null) {
            YamlFile read = YamlFile.read(file, problems);
            if (!read.isWhole()) {
                // The unread rest may contain what seems to be missing.
                throw new ConfigurationException(problems);
            }
            fromFile(read);
        }
        fromEnvironment(new TreeMap<>(environment));
        new TreeMap<>(flags).forEach((key, text) -> add(key, new Given(text, "flag " + key, Given.Origin.FLAG, null)));
        schema.settings().forEach(this::resolve);
        former.forEach(this::warn);
        Configuration configuration =
                new Configuration(new Configuration.Values(rows, valid, refused, Set.copyOf(given.keySet())), "");
        checks.forEach(check -> run(check, configuration));
        if (!problems.isEmpty()) {
            throw new ConfigurationException(problems);
        }
        return configuration;
    }

    /** Number of keys of a file that are no settings. Logs nothing. */
    long unknown(Path file) {
        fromFile(YamlFile.read(file, problems));
        return problems.size();
    }

    private void warn(String key, Given value) {
        LOG.atWarn()
                .addKeyValue("where", value.where())
                .addKeyValue("key", key)
                .addKeyValue("use", schema.current(key).orElseThrow())
                .log("setting has a new name");
    }

    private void fromFile(YamlFile file) {
        file.values().forEach(this::add);
        file.empty().forEach((key, where) -> {
            if (schema.row(key).isPresent() || schema.property(key).isPresent()) {
                problems.add(new Problem(where, key, "has no value; set one or remove the line"));
                refused.add(key);
            } else if (schema.isGroup(key)) {
                namedBy(key, where);
            } else {
                unknown(key, where);
            }
        });
    }

    /** An empty group also defines its name: {@code mirrors: {orders: }} lacks what a mirror needs. */
    private void namedBy(String group, String where) {
        for (Setting<?> row : schema.settings()) {
            if (row.key().contains("*") && group.startsWith(Schema.group(row) + ".")) {
                String below = group.substring(Schema.group(row).length() + 1);
                int end = below.indexOf('.');
                name(row, end < 0 ? below : below.substring(0, end), where);
            }
        }
    }

    private void fromEnvironment(Map<String, String> environment) {
        environment.forEach((variable, text) -> {
            if (!Variables.isSetting(variable, text)) {
                return;
            }
            Given value = new Given(text, "variable " + variable, Given.Origin.ENVIRONMENT, null);
            Optional<String> key = schema.key(variable, names);
            if (key.isPresent()) {
                add(key.get(), value);
            } else {
                unknown(variable);
            }
        });
    }

    /** Rejects a variable that resembles a setting's. Other software may use the same prefix. */
    private void unknown(String variable) {
        if (Variables.OF_COMMANDS.contains(variable)) {
            return;
        }
        String name = variable.substring(Variables.PREFIX.length());
        // Without the prefix, which would make any short name similar.
        List<String> known = schema.settings().stream()
                .map(row -> row.variable().substring(Variables.PREFIX.length()))
                .toList();
        Optional<String> nearest = Spelling.nearest(name, known);
        if (nearest.isPresent() || schema.isInGroup(variable)) {
            problems.add(new Problem(
                    "variable " + variable,
                    "",
                    "is not a known variable" + meant(nearest.map(Variables.PREFIX::concat))));
        } else {
            LOG.atWarn().addKeyValue("variable", variable).log("variable ignored; it is not in the settings reference");
        }
    }

    private void add(String key, Given value) {
        Optional<Setting<?>> row = schema.row(key);
        if (row.isEmpty()) {
            addOther(key, value);
            return;
        }
        if (row.get().key().contains("*")) {
            Schema.name(row.get(), key).ifPresent(name -> name(row.get(), name, value.where()));
        }
        if (row.get().secret() && value.origin() == Given.Origin.FLAG) {
            problems.add(new Problem(
                    value.where(),
                    key,
                    "is a secret and must not be set by a flag; use " + Variables.name(key) + " or " + key + "File"));
            refused.add(key);
            return;
        }
        Given earlier = given.put(key, value);
        if (earlier != null && earlier.origin() == value.origin()) {
            problems.add(new Problem(value.where(), key, "is already set at " + earlier.where()));
        }
    }

    /** A former key, a property, or a mistake. */
    private void addOther(String key, Given value) {
        Optional<String> current = schema.current(key);
        Optional<Schema.Property> property = schema.property(key);
        if (current.isPresent()) {
            former.put(key, value);
            add(current.get(), value);
        } else if (property.isPresent()) {
            String group = property.get().group();
            Schema.name(property.get().row(), group)
                    .ifPresent(name -> name(property.get().row(), name, value.where()));
            properties
                    .computeIfAbsent(group, each -> new LinkedHashMap<>())
                    .put(property.get().name(), value);
        } else {
            unknown(key, value.where());
        }
    }

    private void name(Setting<?> row, String name, String where) {
        boolean isNew = names.computeIfAbsent(Schema.group(row), group -> new LinkedHashSet<>())
                .add(name);
        if (isNew && !Schema.NAME.matcher(name).matches()) {
            problems.add(new Problem(
                    where,
                    Schema.group(row) + "." + name,
                    "is not a valid name; use at most 63 lower-case letters, digits and hyphens"));
        }
    }

    private void unknown(String key, String where) {
        if (schema.isGroup(key)) {
            problems.add(new Problem(where, key, "is a group of settings, not a value"));
            return;
        }
        Set<String> known = new LinkedHashSet<>();
        schema.settings().forEach(row -> known.add(named(row.key(), key)));
        Optional<String> nearest = known.stream()
                .filter(each -> isWithin(key, each))
                .min(Comparator.comparingInt(String::length))
                .or(() -> Spelling.nearest(key, known));
        problems.add(new Problem(where, key, "is not a known setting" + meant(nearest)));
    }

    /** Whether a key only lacks groups of another. */
    private static boolean isWithin(String key, String other) {
        Iterator<String> parts = List.of(other.split("\\.", -1)).iterator();
        for (String part : key.split("\\.", -1)) {
            do {
                if (!parts.hasNext()) {
                    return false;
                }
            } while (!parts.next().equals(part));
        }
        return true;
    }

    /** Returns a row's key with each {@code *} replaced by the name in the given key. */
    private static String named(String row, String key) {
        String[] parts = row.split("\\.", -1);
        String[] given = key.split("\\.", -1);
        for (int at = 0; at < parts.length; at++) {
            parts[at] = parts[at].equals("*") && at < given.length ? given[at] : parts[at];
        }
        return String.join(".", parts);
    }

    private static String meant(Optional<String> nearest) {
        return nearest.map(word -> "; did you mean " + word + "?").orElse("; see the settings reference");
    }

    private <T> void resolve(Setting<T> row) {
        if (!row.key().contains("*")) {
            resolve(row, row.key());
            return;
        }
        for (String name : names.getOrDefault(Schema.group(row), Set.of())) {
            resolve(row, row.key().replace("*", name));
        }
    }

    private <T> void resolve(Setting<T> row, String key) {
        rows.put(key, row);
        if (refused.contains(key)) {
            return;
        }
        Given value = row.secret() ? secret(key) : given.get(key);
        if (value != null) {
            parse(row, key, value);
        } else if (properties.containsKey(key)) {
            check(row, key, properties.get(key));
        } else if (refused.contains(key)) {
            return;
        } else if (row.defaultValue() != null) {
            valid.put(key, row.defaultValue());
        } else if (row.isRequired()) {
            problems.add(new Problem(
                    "not set",
                    key,
                    "is required: " + row.allowed() + "; set it in the file or by " + Variables.name(key)));
            refused.add(key);
        }
    }

    private void check(Setting<?> row, String key, Map<String, Given> found) {
        // Only rows of this type have properties.
        @SuppressWarnings("unchecked")
        Setting<Map<String, String>> own = (Setting<Map<String, String>>) row;
        Map<String, String> read = new LinkedHashMap<>();
        found.forEach((name, value) -> {
            try {
                own.check().accept(Map.of(name, value.text()));
                read.put(name, value.text());
            } catch (IllegalArgumentException e) {
                problems.add(new Problem(value.where(), key + "." + name, String.valueOf(e.getMessage())));
                refused.add(key);
            }
        });
        valid.put(key, Map.copyOf(read));
    }

    private <T> void parse(Setting<T> row, String key, Given value) {
        if (value.elements() != null && value.text().isEmpty()) {
            problems.add(new Problem(
                    value.where(),
                    key,
                    "is an empty list; allowed: " + row.allowed() + (row.isRequired() ? "" : ", or remove it")));
            refused.add(key);
            return;
        }
        String shown = row.secret() ? "the value" : "'" + value.text() + "'";
        try {
            if (value.elements() != null && row.type().ofElements() == null) {
                throw new IllegalArgumentException("a single value is required, not a list");
            }
            valid.put(key, row.parse(value));
        } catch (IllegalArgumentException e) {
            String why =
                    e.getMessage() == null || e.getMessage().isEmpty() || row.secret() ? "" : e.getMessage() + "; ";
            problems.add(
                    new Problem(value.where(), key, "cannot be " + shown + ": " + why + "allowed: " + row.allowed()));
            refused.add(key);
        }
    }

    /** A secret's value, or the content of its file. */
    private @Nullable Given secret(String key) {
        Given direct = given.get(key);
        Given file = given.get(key + "File");
        if (file == null) {
            return direct;
        }
        if (direct != null) {
            problems.add(new Problem(file.where(), key + "File", "conflicts with " + key + "; set only one of them"));
            refused.add(key);
            return null;
        }
        try {
            return new Given(
                    Files.readString(Path.of(file.text())).strip(), "file " + file.text(), Given.Origin.FILE, null);
        } catch (IOException | IllegalArgumentException e) {
            problems.add(
                    new Problem(file.where(), key + "File", "cannot read " + file.text() + ": " + Unreadable.why(e)));
            refused.add(key);
            return null;
        }
    }

    private void run(Check check, Configuration configuration) {
        Collected collected = new Collected();
        boolean unused = collected.part(() -> check.check(configuration, collected));
    }

    /** The place of a value that is in no source. */
    private String placeWithoutSource(String key) {
        return valid.containsKey(key) ? "default" : "not set";
    }

    private final class Collected implements Check.Report {

        @Override
        public void problem(Configuration at, Setting<?> setting, String message) {
            String key = at.key(setting);
            Given value = given.get(key);
            problems.add(new Problem(value == null ? placeWithoutSource(key) : value.where(), key, message));
        }

        @Override
        public boolean part(Runnable part) {
            try {
                part.run();
                return true;
            } catch (Configuration.RefusedException e) {
                // Already reported: one of its values was rejected.
            } catch (Configuration.PlacedException e) {
                problems.add(new Problem(e.group(), "", String.valueOf(e.getMessage())));
            } catch (IllegalArgumentException e) {
                problems.add(new Problem("settings", "", String.valueOf(e.getMessage())));
            }
            return false;
        }
    }
}
