package io.understudy.documentation;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Every {@code understudy} command in the documents is one that the command line takes. None is run here. */
final class DocumentedCommandsTest {

    private static final Pattern FLAG = Pattern.compile("--[a-z][a-z0-9-]+");

    /** Flags in sentences about other programs, by program. */
    private static final Map<String, Set<String>> OF_OTHERS = Map.of(
            "etcd",
            Set.of(
                    "--max-learners",
                    "--auto-compaction-retention",
                    "--data-dir",
                    "--enable-v2",
                    "--initial-cluster",
                    "--max-request-bytes",
                    "--snapshot-count",
                    "--client-cert-auth"),
            "deploy/understudy bench",
            Set.of("--round-trip", "--warm-up", "--work"),
            "etcdctl",
            Set.of("--prefix", "--consistency"),
            "kube-apiserver and its etcd",
            Set.of(
                    "--etcd-cafile",
                    "--etcd-certfile",
                    "--etcd-keyfile",
                    "--etcd-prefix",
                    "--etcd-servers",
                    "--endpoint-reconciler-type",
                    "--watch-progress-notify-interval"),
            "docker",
            Set.of("--build-arg", "--health-cmd", "--profile", "--volumes"),
            "helm",
            Set.of("--force-conflicts"),
            "install.sh",
            Set.of("--prefix", "--destdir", "--remove"));

    @Test
    void blocksHaveCommandsThatCanBeTypedAsTheyAre() {
        List<String> faults = new ArrayList<>();
        int[] seen = {0};
        Document.allBlocks().forEach(block -> BlockKind.commands(block).stream()
                .filter(OurCommand::is)
                .peek(command -> seen[0]++)
                .forEach(command ->
                        OurCommand.faults(command).forEach(fault -> faults.add(block.place() + ": " + fault))));
        assertThat(faults).isEmpty();
        assertThat(seen[0]).isGreaterThan(20);
    }

    @Test
    void sentencesNameCommandsAndFlagsThatThereAre() {
        List<String> faults = new ArrayList<>();
        Document.allQuotes().filter(quote -> OurCommand.is(quote.text())).forEach(quote -> OurCommand.faultsOfMention(
                        quote.text())
                .forEach(fault -> faults.add(quote.place() + ": " + fault)));
        assertThat(faults).isEmpty();
    }

    @Test
    void flagsWithoutACommandAreOfSomeCommand() {
        Set<String> ours = OurCommand.options();
        List<String> faults = new ArrayList<>();
        Document.allQuotes().filter(quote -> quote.text().startsWith("--")).forEach(quote -> FLAG.matcher(quote.text())
                .results()
                .map(flag -> flag.group())
                .filter(flag ->
                        !ours.contains(flag) && OF_OTHERS.values().stream().noneMatch(others -> others.contains(flag)))
                .forEach(flag -> faults.add(quote.place() + ": nobody's flag: " + flag)));
        assertThat(faults).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "understudy lab",
                "deploy/understudy lab --tls --auth",
                "understudy mirror verify --config mirror.yaml [--mirror NAME] [--output json]",
                "understudy mirror translate --revision N [--url http://127.0.0.1:8081 | --config mirror.yaml]",
                "understudy cluster remove m3 --endpoints http://127.0.0.1:1 < /dev/null"
            })
    void whatIsWholeIsTaken(String command) {
        assertThat(OurCommand.faults(command)).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "understudy labb",
                "understudy cluster",
                "understudy mirror translate",
                "understudy mirror verify --config mirror.yaml [--miror NAME]",
                "understudy mirror translate --revision N [--url http://127.0.0.1:8081 | --conf mirror.yaml]",
                "understudy lab --dr-port=x"
            })
    void whatIsNotIsRefused(String command) {
        assertThat(OurCommand.faults(command)).isNotEmpty();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "understudy cluster …",
                "understudy mirror translate",
                "understudy cluster status --endpoints …",
                "understudy cluster add|remove"
            })
    void aMentionNeedsNoArguments(String command) {
        assertThat(OurCommand.faultsOfMention(command)).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "understudy clusters …",
                "understudy cluster add|delete",
                "understudy mirror translate --revisions"
            })
    void aMentionIsOfACommandThatThereIs(String command) {
        assertThat(OurCommand.faultsOfMention(command)).isNotEmpty();
    }
}
