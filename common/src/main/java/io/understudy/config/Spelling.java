package io.understudy.config;

import java.util.Collection;
import java.util.Comparator;
import java.util.Optional;

/** Suggests the nearest known word for a mistyped one. */
public final class Spelling {

    private Spelling() {}

    /** The nearest of {@code known}, unless even that is too far to be a typing mistake. */
    public static Optional<String> nearest(String word, Collection<String> known) {
        return known.stream()
                .min(Comparator.comparingInt((String candidate) -> distance(word, candidate))
                        .thenComparing(Comparator.naturalOrder()))
                .filter(candidate -> distance(word, candidate) <= Math.max(2, word.length() / 3));
    }

    /** Levenshtein's distance: insertions, deletions and replacements of one character. */
    public static int distance(String from, String to) {
        int[] row = new int[to.length() + 1];
        for (int column = 0; column <= to.length(); column++) {
            row[column] = column;
        }
        for (int line = 1; line <= from.length(); line++) {
            int diagonal = row[0];
            row[0] = line;
            for (int column = 1; column <= to.length(); column++) {
                int replaced = diagonal + (from.charAt(line - 1) == to.charAt(column - 1) ? 0 : 1);
                diagonal = row[column];
                row[column] = Math.min(replaced, Math.min(row[column], row[column - 1]) + 1);
            }
        }
        return row[to.length()];
    }
}
