package io.understudy.documentation;

import io.understudy.documentation.Document.Block;
import java.util.List;
import java.util.regex.Pattern;

/** What a block of code has in it. */
enum BlockKind {
    /** Nothing but commands. */
    SHELL,
    /** Commands after a prompt, each with what it answers. */
    SESSION,
    /** Anything else. */
    OTHER;

    private static final String PROMPT = "$ ";

    /**
     * Programs in documents; {@code GET} is a request to one of our processes. A block with any other belongs in the
     * table.
     */
    private static final Pattern PROGRAM = Pattern.compile(
            "(?:(?:deploy/|bin/)?understudy|etcdctl|curl|mvn|java|grep|docker|gpg|kubectl|sha256sum|tar|sudo|mkdir|\\./self-check"
                    + "|kafka-console-consumer\\.sh|GET) \\S.*|\\./self-check",
            Pattern.DOTALL);

    static BlockKind of(Block block) {
        if (block.text().lines().anyMatch(line -> line.startsWith(PROMPT))) {
            return SESSION;
        }
        return Shell.lines(block.text()).stream()
                        .allMatch(line -> PROGRAM.matcher(line).matches())
                ? SHELL
                : OTHER;
    }

    /** Those that can be typed. */
    static List<String> commands(Block block) {
        return switch (of(block)) {
            case SHELL -> Shell.lines(block.text());
            case SESSION ->
                Shell.lines(block.text()).stream()
                        .filter(line -> line.startsWith(PROMPT))
                        .map(line -> line.substring(PROMPT.length()))
                        .toList();
            case OTHER -> List.of();
        };
    }
}
