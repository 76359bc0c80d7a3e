package io.understudy.report;

import java.util.ArrayList;
import java.util.List;

/** Columns of text, each as wide as its widest cell; numbers to the right. */
public final class TextTable {

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

    /** One line per row, without trailing blanks. */
    public List<String> lines() {
        List<String> lines = new ArrayList<>();
        for (List<String> row : rows) {
            StringBuilder line = new StringBuilder();
            for (int column = 0; column < row.size(); column++) {
                String cell = row.get(column);
                String fill = " ".repeat(width(column) - cell.length());
                line.append(isNumeric(column) ? fill + cell : cell + fill).append(GAP);
            }
            lines.add(line.toString().stripTrailing());
        }
        return lines;
    }

    private int width(int column) {
        return rows.stream().mapToInt(row -> row.get(column).length()).max().orElse(0);
    }

    private boolean isNumeric(int column) {
        return rows.size() > 1
                && rows.stream().skip(1).allMatch(row -> row.get(column).matches("[0-9]+([.][0-9]+)?"));
    }
}
