package io.understudy.documentation;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;

/** What people type, taken apart as far as it is needed here. */
final class Shell {

    private static final Set<String> ENDS = Set.of("|", "||", "&&", "&", ";", "<", ">", ">>", "#");
    private static final Pattern WORD = Pattern.compile("(?:[^\\s'\"]|'[^']*'|\"[^\"]*\")+");
    private static final Pattern QUOTES = Pattern.compile("'([^']*)'|\"([^\"]*)\"");

    private Shell() {}

    /** One command each: lines continued by a backslash or an open quote are joined, empty lines are left out. */
    static List<String> lines(String text) {
        List<String> lines = new ArrayList<>();
        StringBuilder open = new StringBuilder();
        for (String line : text.split("\n", -1)) {
            open.append(line);
            if (line.endsWith("\\")) {
                open.setLength(open.length() - 1);
            } else if (open.chars().filter(each -> each == '\'').count() % 2 == 1) {
                open.append('\n');
            } else {
                lines.add(open.toString().strip());
                open.setLength(0);
            }
        }
        lines.add(open.toString().strip());
        lines.removeIf(String::isEmpty);
        return lines;
    }

    /** Those of the first command of a line, without their quotes. */
    static List<String> words(String line) {
        List<String> words = new ArrayList<>();
        var word = WORD.matcher(line);
        while (word.find() && !ENDS.contains(word.group())) {
            words.add(QUOTES.matcher(word.group()).replaceAll("$1$2"));
        }
        return words;
    }
}
