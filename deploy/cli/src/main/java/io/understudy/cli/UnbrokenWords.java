package io.understudy.cli;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import picocli.CommandLine.Help;
import picocli.CommandLine.IHelpSectionRenderer;
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.UsageMessageSpec;

/** A list of flags or arguments in the help, wrapped at blanks only. URLs would be broken at each colon. */
record UnbrokenWords(IHelpSectionRenderer list, int width) implements IHelpSectionRenderer {

    private static final Pattern COLOUR = Pattern.compile("\u001b\\[[0-9;]*m");

    @Override
    public String render(Help help) {
        Set<String> words = words(help.commandSpec());
        List<String> lines = new ArrayList<>(list.render(help).lines().toList());
        for (int at = 0; at + 1 < lines.size(); at++) {
            String line = lines.get(at);
            String next = lines.get(at + 1);
            String tail = line.substring(line.lastIndexOf(' ') + 1);
            int colours = line.length() - COLOUR.matcher(line).replaceAll("").length();
            if (line.length() - colours > width) {
                int cut = line.lastIndexOf(' ', width + colours);
                move(lines, at, line.substring(0, cut), line.substring(cut + 1) + " ");
            } else if (words.contains(tail + next.strip().split(" ", 2)[0]) && !words.contains(tail)) {
                move(lines, at, line.substring(0, line.length() - tail.length()), tail);
            }
        }
        return lines.isEmpty() ? "" : String.join("\n", lines) + "\n";
    }

    /** Moves the end of a line to the start of its continuation. Without one, moves it to a new line. */
    private static void move(List<String> lines, int at, String kept, String moved) {
        String next = lines.get(at + 1);
        int indent = indent(next);
        lines.set(at, kept.stripTrailing());
        if (moved.endsWith(" ") && indent != indent(kept)) {
            lines.add(at + 1, " ".repeat(indent(kept)) + moved.stripTrailing());
        } else {
            lines.set(at + 1, " ".repeat(indent) + moved + next.strip());
        }
    }

    private static int indent(String line) {
        return line.length() - line.stripLeading().length();
    }

    /** The synopsis, wrapped at blanks only. It would be broken within {@code [,URL...]}. */
    record Synopsis(IHelpSectionRenderer synopsis, int width) implements IHelpSectionRenderer {

        private static final int UNLIMITED = 10_000;

        @Override
        public String render(Help help) {
            UsageMessageSpec usage = help.commandSpec().usageMessage();
            usage.width(UNLIMITED);
            String line = synopsis.render(help).strip();
            usage.width(width);
            int column = help.synopsisHeadingLength();
            int indent = column + help.commandSpec().qualifiedName().length() + 1;
            StringBuilder text = new StringBuilder();
            for (String word : line.split(" ", -1)) {
                int length = COLOUR.matcher(word).replaceAll("").length();
                boolean isBroken = column > indent && column + 1 + length > width;
                text.append(isBroken ? "\n" + " ".repeat(indent) : text.isEmpty() ? "" : " ")
                        .append(word);
                column = (isBroken ? indent : column + (text.length() == word.length() ? 0 : 1)) + length;
            }
            return text.append('\n').toString();
        }
    }

    private static Set<String> words(CommandSpec command) {
        Set<String> words = new HashSet<>();
        Stream.concat(command.options().stream(), command.positionalParameters().stream())
                .map(ArgSpec::description)
                .forEach(lines -> words.addAll(List.of(String.join(" ", lines).split("\\s+", -1))));
        return words;
    }
}
