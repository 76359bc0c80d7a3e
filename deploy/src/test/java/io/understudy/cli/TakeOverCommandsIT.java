package io.understudy.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.understudy.local.junit.EtcdExtension;
import io.understudy.mirror.MirrorConfiguration;
import io.understudy.mirror.MirrorProcess;
import io.understudy.mirror.pipeline.MirrorReport;
import io.understudy.mirror.pipeline.MirrorState;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.Iterator;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/**
 * Output and exit status of the commands that move the primary role, and that they change nothing without confirmation.
 *
 * <p>Tests invariant M38.
 */
@Tag("takeover")
final class TakeOverCommandsIT {

    /** Of one test: it leaves authentication on. */
    @RegisterExtension
    private final EtcdExtension source = EtcdExtension.voters(1).named("source");

    @RegisterExtension
    private final EtcdExtension target = EtcdExtension.voters(1).named("target");

    @TempDir
    private Path folder;

    private Path file;

    /** What a command printed, and how it ended. */
    private record Ended(int status, String out, String err) {}

    @BeforeEach
    void configure() throws IOException {
        file = Files.writeString(folder.resolve("dr.yaml"), """
            status: {listen: "127.0.0.1:0"}
            mirrors:
              dr:
                source: {endpoints: ["%s"], user: mirror, password: secret}
                target: {etcd: {endpoints: ["%s"], user: mirror, password: secret, leases: ttl}}
            """.formatted(
                        source.cluster().clientUrls().get(0),
                        target.cluster().clientUrls().get(0)));
    }

    @Test
    void thereAndBack_eachOnlyWhenItIsMeant() throws Exception {
        assertThat(run("switchover", "--timeout", "1ms").status()).isEqualTo(2);
        assertThat(run("switchover", "--drain-deadline", "0s").status()).isEqualTo(2);
        assertThat(run("switchover", "--close", "alarm").status()).isEqualTo(2);
        assertThat(run("switchover", "--close", "roles", "--allow-loss").status())
                .isEqualTo(2);
        assertThat(run("switchover", "--force").status()).isEqualTo(2);

        Ended byHand = execute("config", "check", "--connect", file.toString());
        assertThat(byHand.status()).as(byHand.out()).isEqualTo(1);
        assertThat(byHand.out()).contains("has no primary record of mirror dr");

        try (MirrorProcess mirror = MirrorProcess.start(MirrorConfiguration.load(file, Map.of(), Map.of()))) {
            awaitSynced(mirror, source);

            Ended checked = execute("config", "check", "--connect", file.toString());
            assertThat(checked.status()).as(checked.out()).isZero();

            Ended dry = run("switchover", "--accept-silent-watchers", "--close", "auth-enable", "--dry-run");
            assertThat(dry.status()).as(dry.err()).isZero();
            assertThat(dry.out())
                    .contains("Plan:", " 1. compare: ", " 2. close: enables authentication at source", " 5. open: ");

            Ended refused = run("switchover", "--accept-silent-watchers");
            assertThat(refused.status()).isEqualTo(1);
            assertThat(refused.err())
                    .contains("authentication is not enabled at source", "--allow-loss")
                    .doesNotContain("Continue?");
            assertThat(run("switchover", "--undo").err()).contains("there is nothing to undo");
            assertThat(run("switchover", "--undo", "--dry-run").err()).contains("there is nothing to undo");
            assertThat(run("release", "--side", "source", "--dry-run").err()).contains("is not closed");
            assertThat(run("failover").err()).contains("responds: a switchover loses nothing, a failover may");
            assertThat(run("rejoin", "--dry-run").err()).contains("there is nothing to rejoin");
            assertThat(run("release", "--side", "source", "--yes").err()).contains("is not closed");

            Ended there = run("switchover", "--accept-silent-watchers", "--close", "auth-enable", "--yes");
            assertThat(there.status()).as(there.err()).isZero();
            assertThat(there.out())
                    .contains("The primary of mirror dr is now target")
                    .containsPattern("end marker: revision \\d+ of source")
                    .contains("Loss: none");
            awaitSynced(mirror, target);

            Ended back = run("failback", "--accept-silent-watchers", "--close", "auth-enable", "--yes");
            assertThat(back.status()).as(back.err()).isZero();
            assertThat(back.out())
                    .contains("The primary of mirror dr is now source")
                    .contains("Loss: none");
            awaitSynced(mirror, source);

            Ended released = run("release", "--side", "target", "--yes");
            assertThat(released.status()).as(released.err()).isZero();
            assertThat(released.out()).contains("target", "is open");

            Ended again = run("switchover", "--accept-silent-watchers", "--close", "auth-enable", "--yes");
            assertThat(again.status()).as(again.err()).isZero();
            target.cluster().members().get(0).kill();
            assertThat(run("release", "--side", "source", "--yes").err()).contains("--to source");
            assertThat(run("failover", "--to", "source", "--close", "auth-enable", "--dry-run")
                            .status())
                    .isZero();
            Ended former = run("failover", "--to", "source", "--close", "auth-enable", "--yes");
            assertThat(former.status()).as(former.err()).isEqualTo(3);
            assertThat(former.out())
                    .contains(
                            "The primary of mirror dr is now source", "Loss: ", "possible: all writes after revision");

            target.cluster().members().get(0).start();
            String[] undo = {"--undo", "--force", "--close", "auth-enable"};
            await().atMost(Duration.ofSeconds(60)).untilAsserted(() -> assertThat(
                            run("failback", with(undo, "--dry-run")).status())
                    .as("the mirror has closed the former primary")
                    .isZero());
            Ended unconfirmed = unconfirmed("failback", undo);
            assertThat(unconfirmed.status()).isEqualTo(2);
            assertThat(unconfirmed.err()).contains("Continue?", "not confirmed; nothing was changed");
            Ended undone = run("failback", with(undo, "--yes"));
            assertThat(undone.status()).as(undone.err()).isEqualTo(3);
            assertThat(undone.out())
                    .contains("is open again and remains the primary", "Loss: possible: all writes that source");
        }
    }

    /** With what the page leaves to its reader: the confirmation, and a target that was not seeded. */
    @Test
    void theDisasterRecoveryPageWorksAsWritten() throws Exception {
        Path page = Path.of("").toAbsolutePath().resolveSibling("docs/operate/disaster-recovery.md");
        Iterator<String> lines = Files.readAllLines(page).stream()
                .map(String::strip)
                .filter(line -> line.matches("understudy (config check|mirror .* --config) .*"))
                .iterator();
        String unseeded = "--accept-silent-watchers";
        try (MirrorProcess mirror = MirrorProcess.start(MirrorConfiguration.load(file, Map.of(), Map.of()))) {
            awaitSynced(mirror, source);
            assertDocumented(lines.next(), "config check", 0);
            assertDocumented(lines.next(), "verify", 0);
            assertDocumented(lines.next(), "switchover", 0, unseeded);
            // The drill.
            assertDocumented(lines.next(), "switchover", 0);
            awaitSynced(mirror, target);
            assertDocumented(lines.next(), "failback", 0);
            awaitSynced(mirror, source);

            String switchover = lines.next();
            String failback = switchover.replace("switchover", "failback");
            assertDocumented(switchover, "switchover", 0, unseeded, "--yes");
            awaitSynced(mirror, target);
            assertThat(documented(lines.next()).err()).contains("there is nothing to undo");
            assertDocumented(failback, "failback", 0, unseeded, "--yes");
            awaitSynced(mirror, source);

            source.cluster().members().get(0).kill();
            assertDocumented(lines.next(), "failover", 3, "--yes");
            source.cluster().members().get(0).start();
            String rejoin = lines.next();
            await().atMost(Duration.ofSeconds(60)).untilAsserted(() -> assertDocumented(rejoin, "rejoin", 0, "--yes"));
            awaitSynced(mirror, target);
            assertDocumented(failback, "failback", 0, unseeded, "--yes");
            awaitSynced(mirror, source);

            assertDocumented(switchover, "switchover", 0, unseeded, "--yes");
            awaitSynced(mirror, target);
            target.cluster().members().get(0).kill();
            assertDocumented(lines.next(), "failover", 3, "--yes");
        }
        assertThat(lines).isExhausted();
    }

    private void assertDocumented(String line, String command, int status, String... more) {
        assertThat(line).contains(command);
        Ended ended = documented(line, more);
        assertThat(ended.status())
                .as("%s: %s%s", line, ended.out(), ended.err())
                .isEqualTo(status);
    }

    private Ended documented(String line, String... more) {
        return execute(Stream.concat(
                        Stream.of(line.split(" ")).skip(1).map(word -> word.endsWith(".yaml") ? file.toString() : word),
                        Stream.of(more))
                .toArray(String[]::new));
    }

    private static void awaitSynced(MirrorProcess mirror, EtcdExtension from) {
        await().atMost(Duration.ofSeconds(60)).untilAsserted(() -> {
            MirrorReport report = mirror.reports().get(0);
            assertThat(report.state()).as(report.toString()).isEqualTo(MirrorState.SYNCED);
            assertThat(report.source())
                    .contains(from.cluster().clientUrls().get(0).toString());
        });
    }

    private static String[] with(String[] options, String more) {
        String[] all = Arrays.copyOf(options, options.length + 1);
        all[options.length] = more;
        return all;
    }

    /** With an empty standard input. */
    private Ended unconfirmed(String command, String... options) {
        InputStream before = System.in;
        System.setIn(InputStream.nullInputStream());
        try {
            return run(command, options);
        } finally {
            System.setIn(before);
        }
    }

    private Ended run(String command, String... options) {
        String[] arguments = new String[options.length + 4];
        arguments[0] = "mirror";
        arguments[1] = command;
        arguments[2] = "--config";
        arguments[3] = file.toString();
        System.arraycopy(options, 0, arguments, 4, options.length);
        return execute(arguments);
    }

    private static Ended execute(String... arguments) {
        StringWriter out = new StringWriter();
        StringWriter err = new StringWriter();
        CommandLine line = Understudy.commandLine().setOut(new PrintWriter(out)).setErr(new PrintWriter(err));
        return new Ended(line.execute(arguments), out.toString(), err.toString());
    }
}
