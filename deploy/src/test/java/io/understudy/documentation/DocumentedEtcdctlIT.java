package io.understudy.documentation;

import static org.assertj.core.api.Assertions.assertThat;

import io.understudy.local.binary.EtcdBinaries;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Commands of etcdctl in the documents exist, with their flags. Only its help is run. */
final class DocumentedEtcdctlIT {

    private static final String PROGRAM = "etcdctl";

    private static final EtcdBinaries BINARIES = EtcdBinaries.find();

    private static final String ETCDCTL = BINARIES.etcdctl().toString();

    /** Of etcdctl before 3.7, and of later ones. */
    private static final Pattern NAME =
            Pattern.compile("NAME:\n\\s+(.+?) - |Usage:\n  etcdctl ([a-z-]+(?: [a-z-]+)*)(?= |\n)");

    private static final Pattern GROUP = Pattern.compile("\n(?:COMMANDS|Available Commands):\n");

    static Stream<String> commands() {
        return Stream.concat(
                        Document.allBlocks().flatMap(block -> BlockKind.commands(block).stream()),
                        Document.allQuotes().map(Document.Quote::text))
                .filter(line -> line.startsWith(PROGRAM + " "))
                .distinct();
    }

    @ParameterizedTest
    @MethodSource("commands")
    void etcdctlHasTheCommandAndItsFlags(String command) throws Exception {
        assertThat(faults(command)).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "etcdctl gett x",
                "etcdctl role grand-permission gateway --prefix read ''",
                "etcdctl user add gateway --prefixes",
                "etcdctl --endpoint=127.0.0.1:2379 get x"
            })
    void whatItHasNotIsNoticed(String command) throws Exception {
        assertThat(faults(command)).isNotEmpty();
    }

    @Test
    void thereAreSome() {
        assertThat(commands()).hasSizeGreaterThan(10);
    }

    private static List<String> faults(String command) throws Exception {
        List<String> words = Shell.words(command);
        List<String> flags = words.stream()
                .filter(word -> word.startsWith("--"))
                .map(word -> word.split("=", 2)[0])
                .toList();
        List<String> faults = new ArrayList<>();
        List<String> arguments = new ArrayList<>(words.subList(1, words.size()));
        // Those before the command, with their values.
        while (!arguments.isEmpty() && arguments.get(0).startsWith("-")) {
            String flag = arguments.remove(0);
            if (!flag.contains("=")) {
                arguments.remove(0);
            }
        }
        List<String> plain =
                arguments.stream().takeWhile(word -> !word.startsWith("-")).toList();
        String help = help(plain);
        Matcher name = NAME.matcher(help);
        if (!name.find()) {
            return List.of("no such command: " + command);
        }
        String found = name.group(1) == null ? name.group(2) : name.group(1);
        if (!(String.join(" ", plain) + " ").startsWith(found + " ")) {
            return List.of("no such command: " + command);
        }
        // A group of commands would be followed by one of them.
        if (GROUP.matcher(help).find()) {
            faults.add("no such command: " + command);
        }
        flags.stream()
                .filter(flag ->
                        !Pattern.compile(" " + flag + "[=\\[\\s]").matcher(help).find())
                .map(flag -> "no such flag: " + flag)
                .forEach(faults::add);
        return faults;
    }

    /** Of the command, with the options of all commands where etcdctl lists them apart. */
    private static String help(List<String> command) throws Exception {
        List<String> line = new ArrayList<>(command);
        line.add("--help");
        String help = output(line);
        return help.contains("\"etcdctl options\"") ? help + output(List.of("options")) : help;
    }

    private static String output(List<String> arguments) throws Exception {
        List<String> line = new ArrayList<>();
        line.add(ETCDCTL);
        line.addAll(arguments);
        Process etcdctl = new ProcessBuilder(line).redirectErrorStream(true).start();
        String output = new String(etcdctl.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(etcdctl.waitFor(60, TimeUnit.SECONDS)).isTrue();
        return output;
    }
}
