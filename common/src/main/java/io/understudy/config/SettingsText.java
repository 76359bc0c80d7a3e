package io.understudy.config;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Locale;

/**
 * Generates the sample file and the reference table from the settings.
 *
 * <p>Invariant CF4: the sample file is a valid configuration, and sample and reference contain every setting.
 */
public final class SettingsText {

    private static final int WIDTH = 110;

    private SettingsText() {}

    /**
     * A YAML file with every setting. Required ones have an example, others are commented out with their defaults, and
     * so are groups without a required one.
     *
     * @param name in place of each {@code *}
     */
    public static String sample(Collection<Setting<?>> settings, String name) {
        StringBuilder text = new StringBuilder();
        List<String> open = List.of();
        Collection<Setting<?>> rows = new Schema(settings).settings();
        for (Setting<?> row : rows) {
            List<String> path = List.of(row.key().replace("*", name).split("\\."));
            List<String> groups = path.subList(0, path.size() - 1);
            int shared = shared(open, groups);
            for (int depth = shared; depth < groups.size(); depth++) {
                text.append(depth == 0 && !text.isEmpty() ? "\n" : "")
                        .append("  ".repeat(depth))
                        .append(holdsRequired(rows, row, depth) ? "" : "# ")
                        .append(groups.get(depth))
                        .append(":\n");
            }
            open = groups;
            String indent = "  ".repeat(groups.size());
            wrap(row.doc() + " " + sentence(row.allowed()), WIDTH - indent.length() - 2)
                    .forEach(line ->
                            text.append(indent).append("# ").append(line).append('\n'));
            text.append(indent)
                    .append(row.isRequired() ? "" : "# ")
                    .append(path.get(path.size() - 1))
                    .append(": ")
                    .append(shown(row))
                    .append('\n');
        }
        return text.toString();
    }

    /** A Markdown table of every setting, its variable, type, default, and meaning. */
    public static String reference(Collection<Setting<?>> settings) {
        StringBuilder text = new StringBuilder("| key | variable | default | allowed | meaning |\n")
                .append("| --- | --- | --- | --- | --- |\n");
        for (Setting<?> row : new Schema(settings).settings()) {
            String fallback =
                    row.defaultText().map(value -> "`" + value + "`").orElse(row.isRequired() ? "required" : "none");
            text.append("| `")
                    .append(row.key())
                    .append("` | `")
                    .append(row.variable())
                    .append("` | ")
                    .append(fallback)
                    .append(" | ")
                    .append(cell(row.allowed()))
                    .append(" | ")
                    .append(cell(row.doc()))
                    .append(row.secret() ? " Secret. |\n" : " |\n");
        }
        return text.toString();
    }

    private static String shown(Setting<?> row) {
        String example = row.example();
        return row.defaultText().orElse(example == null ? "<" + row.type().name() + ">" : example);
    }

    /** Whether the group of {@code row} at the given depth has a required setting. */
    private static boolean holdsRequired(Collection<Setting<?>> rows, Setting<?> row, int depth) {
        List<String> segments = List.of(row.key().split("\\."));
        String group = String.join(".", segments.subList(0, depth + 1)) + ".";
        return rows.stream().anyMatch(other -> other.isRequired() && other.key().startsWith(group));
    }

    private static int shared(List<String> one, List<String> other) {
        int count = 0;
        while (count < one.size() && count < other.size() && one.get(count).equals(other.get(count))) {
            count++;
        }
        return count;
    }

    private static String sentence(String text) {
        return text.substring(0, 1).toUpperCase(Locale.ROOT) + text.substring(1) + ".";
    }

    private static String cell(String text) {
        return text.replace("|", "\\|");
    }

    private static List<String> wrap(String text, int width) {
        List<String> lines = new ArrayList<>();
        StringBuilder line = new StringBuilder();
        for (String word : text.split(" ", -1)) {
            if (!line.isEmpty() && line.length() + 1 + word.length() > width) {
                lines.add(line.toString());
                line.setLength(0);
            }
            line.append(line.isEmpty() ? "" : " ").append(word);
        }
        lines.add(line.toString());
        return lines;
    }
}
