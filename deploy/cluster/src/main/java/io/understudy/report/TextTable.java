package io.understudy.report;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;

/** Columns of text, as wide as their widest cells or as fits into 100 characters. Numbers are on the right. */
public final class TextTable {

    /** Maximum length of a line; cells that need more are continued on the next one. */
    public static final int WIDTH = 100;

    private static final String GAP = "   ";

    private final List<List<String>> rows = new ArrayList<>();

    public TextTable(String... headings) {
        rows.add(List.of(headings));
    }

    /**
     * Adds a row.
     *
     * @throws IllegalArgumentException the row has not as many cells as there are headings
     */
    public TextTable row(String... cells) {
        if (cells.length != rows.get(0).size()) {
            throw new IllegalArgumentException("a row of " + cells.length + " cells in a table of "
                    + rows.get(0).size() + " columns: " + String.join(", ", cells));
        }
        rows.add(List.of(cells));
        return this;
    }

    /** Returns one or more lines per row, without trailing blanks. */
    public List<String> lines() {
        int[] widths = widths();
        List<String> lines = new ArrayList<>();
        for (List<String> row : rows) {
            List<List<String>> wrapped = IntStream.range(0, widths.length)
                    .mapToObj(column -> wrap(row.get(column), widths[column]))
                    .toList();
            int height = wrapped.stream().mapToInt(List::size).max().orElse(0);
            for (int part = 0; part < height; part++) {
                StringBuilder line = new StringBuilder();
                for (int column = 0; column < widths.length; column++) {
                    List<String> parts = wrapped.get(column);
                    String cell = part < parts.size() ? parts.get(part) : "";
                    String fill = " ".repeat(widths[column] - cell.length());
                    line.append(isNumeric(column) ? fill + cell : cell + fill).append(GAP);
                }
                lines.add(line.toString().stripTrailing());
            }
        }
        return lines;
    }

    /** The widths of the widest cells; the widest columns are narrowed until a line fits. */
    private int[] widths() {
        int[] widths = IntStream.range(0, rows.get(0).size())
                .map(column -> rows.stream()
                        .mapToInt(row -> row.get(column).length())
                        .max()
                        .orElse(0))
                .toArray();
        int excess = Arrays.stream(widths).sum() + GAP.length() * (widths.length - 1) - WIDTH;
        for (; excess > 0; excess--) {
            int widest = Arrays.stream(widths).max().orElse(0);
            widths[
                    IntStream.range(0, widths.length)
                            .filter(column -> widths[column] == widest)
                            .findFirst()
                            .orElseThrow()]--;
        }
        return widths;
    }

    /** Breaks after blanks and commas where possible. */
    private static List<String> wrap(String cell, int width) {
        List<String> parts = new ArrayList<>();
        String rest = cell;
        while (rest.length() > width) {
            int end = Math.max(rest.lastIndexOf(' ', width), rest.lastIndexOf(',', width - 1) + 1);
            end = end <= 0 ? width : end;
            parts.add(rest.substring(0, end));
            rest = rest.substring(end).stripLeading();
        }
        parts.add(rest);
        return parts;
    }

    private boolean isNumeric(int column) {
        return rows.size() > 1
                && rows.stream().skip(1).allMatch(row -> row.get(column).matches("[0-9]+([.][0-9]+)?"));
    }
}
