package io.understudy.cli;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.understudy.report.TextTable;
import java.io.BufferedReader;
import java.io.Console;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.nio.charset.Charset;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The output of a command: results go to standard output, notes to standard error. */
public class Output {

    /** An output format. */
    public enum Form {
        TABLE,
        JSON;

        @Override
        public String toString() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    @Spec(Spec.Target.MIXEE)
    private CommandSpec command;

    private boolean isPrinted;

    @Option(names = "--output", defaultValue = "table", paramLabel = "table|json", description = "Output format.")
    private Form form;

    /** Returns the command with these flags. */
    final CommandLine command() {
        return command.commandLine();
    }

    final ParameterException usageError(String message) {
        return new ParameterException(command(), message);
    }

    final boolean isJson() {
        return form == Form.JSON;
    }

    /** Whether a part of the result was printed. */
    final boolean isPrinted() {
        return isPrinted;
    }

    /** Prints a line to standard error. */
    final void note(String line) {
        command().getErr().println(line);
        command().getErr().flush();
    }

    /** Prints progress: to standard output unless the result is JSON. */
    final void progress(String line) {
        progressWriter().println(line);
        progressWriter().flush();
    }

    final PrintWriter progressWriter() {
        return isJson() ? command().getErr() : command().getOut();
    }

    final void raw(String text) {
        isPrinted = true;
        PrintWriter out = command().getOut();
        out.print(text);
        out.flush();
    }

    final void lines(Iterable<String> lines) {
        isPrinted = true;
        lines.forEach(command().getOut()::println);
        command().getOut().flush();
    }

    /** Prints a value as indented JSON. */
    final void json(Object value) {
        lines(List.of(new JsonMapper().valueToTree(value).toPrettyString()));
    }

    /** Prints a text, in JSON as the only field of an object. */
    final void text(String name, String text) {
        if (isJson()) {
            json(Map.of(name, text));
        } else {
            lines(List.of(text));
        }
    }

    /** Prints a JSON object as it is, or as a table of one row. */
    final void page(String object) {
        if (isJson()) {
            raw(object);
            return;
        }
        try {
            row(new JsonMapper().readValue(object, new TypeReference<LinkedHashMap<String, Object>>() {}));
        } catch (JsonProcessingException e) {
            throw new IllegalArgumentException("invalid JSON: " + object, e);
        }
    }

    /** Prints an object, or a table of one row. */
    final void row(Map<String, ?> cells) {
        if (isJson()) {
            json(cells);
        } else {
            table(List.copyOf(cells.keySet()), List.of(cells));
        }
    }

    /** Prints an array of objects, or a table. */
    final void rows(List<String> names, List<? extends Map<String, ?>> rows) {
        if (isJson()) {
            json(rows);
        } else {
            table(names, rows);
        }
    }

    private void table(List<String> names, List<? extends Map<String, ?>> rows) {
        TextTable table = new TextTable(
                names.stream().map(name -> name.toUpperCase(Locale.ROOT)).toArray(String[]::new));
        for (Map<String, ?> cells : rows) {
            table.row(names.stream().map(name -> cell(cells.get(name))).toArray(String[]::new));
        }
        lines(table.lines());
    }

    private static String cell(@Nullable Object value) {
        if (value instanceof Boolean is) {
            return is ? "yes" : "no";
        }
        return value == null || value.equals("") ? "-" : value.toString();
    }

    /** Returns a map of alternating names and values, in this order. */
    static Map<String, Object> cells(Object... namesAndValues) {
        Map<String, Object> cells = new LinkedHashMap<>();
        for (int at = 0; at < namesAndValues.length; at += 2) {
            cells.put(namesAndValues[at].toString(), namesAndValues[at + 1]);
        }
        return cells;
    }

    /**
     * Reads a password from the terminal, without echo.
     *
     * @throws ParameterException there is no terminal, or two inputs differ
     */
    final String password(String user) {
        // Since JDK 22 a console exists without a terminal, too.
        if (!TerminalBar.isTerminal(0) || !TerminalBar.isTerminal(1)) {
            throw usageError(
                    "no terminal for the password of " + user + "; specify --user " + user + " and --password-file");
        }
        Console terminal = Objects.requireNonNull(System.console());
        char[] password = terminal.readPassword("Password of %s: ", user);
        if (password == null
                || password.length == 0
                || !Arrays.equals(password, terminal.readPassword("Repeat the password: "))) {
            throw usageError("the passwords are empty or differ; nothing was changed");
        }
        return String.valueOf(password);
    }

    /**
     * Reads a confirmation from standard input.
     *
     * @throws ParameterException the answer is not yes
     */
    final void confirm(String question) {
        note(question + " Continue? [yes/no]");
        try {
            String answer = new BufferedReader(new InputStreamReader(System.in, Charset.defaultCharset())).readLine();
            if (!"yes".equals(answer)) {
                throw usageError("not confirmed; nothing was changed. --yes skips the confirmation");
            }
        } catch (IOException e) {
            throw new UncheckedIOException("cannot read the confirmation from standard input", e);
        }
    }
}
