package io.understudy.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.understudy.local.junit.EtcdExtension;
import io.understudy.mirror.MirrorConfiguration;
import io.understudy.mirror.MirrorProcess;
import io.understudy.mirror.MirrorSettings;
import io.understudy.mirror.pipeline.MirrorState;
import io.understudy.mirror.takeover.Handover;
import io.understudy.mirror.takeover.HandoverListener;
import io.understudy.mirror.takeover.HandoverOptions;
import io.understudy.mirror.takeover.MirrorParties;
import io.understudy.mirror.takeover.StepPlan;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/**
 * What the commands that move a home print, and do only when they are told to.
 *
 * <p>Tests invariant M38.
 */
@Tag("takeover")
final class TakeOverCommandsIT {

    @RegisterExtension
    static final EtcdExtension SOURCE = EtcdExtension.voters(1).named("source");

    @RegisterExtension
    static final EtcdExtension TARGET = EtcdExtension.voters(1).named("target");

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
                    source: {endpoints: ["%s"]}
                    target: {etcd: {endpoints: ["%s"]}}
                """.formatted(
                        SOURCE.cluster().clientUrls().get(0),
                        TARGET.cluster().clientUrls().get(0)));
    }

    @Test
    void aDryRunTellsWhatWouldBeUndoneOrRefusedAndDoesNothing() throws Exception {
        stopAfterTheFreeze();

        for (int time = 0; time < 2; time++) {
            Ended dry = run("switchover", "--undo", "--dry-run");
            assertThat(dry.status()).isZero();
            assertThat(dry.out()).contains("would undo: freeze: disarms the alarm", "Nothing was changed.");
        }

        Ended refused = run("failover", "--dry-run");
        assertThat(refused.status()).isEqualTo(1);
        assertThat(refused.out()).contains("Plan:", "1. check:");
        assertThat(refused.err()).contains("answers: a switchover loses nothing, a failover may");

        Ended unasked = run("failover");
        assertThat(unasked.status()).isEqualTo(1);
        assertThat(unasked.err())
                .contains("answers: a switchover loses nothing, a failover may")
                .doesNotContain("Continue?");

        Ended undone = run("switchover", "--undo");
        assertThat(undone.status()).isZero();
        assertThat(undone.out()).contains("undone: freeze", "The primary role has not moved.");
        assertThat(run("switchover", "--undo", "--dry-run").status()).isNotZero();
    }

    @Test
    void aFailbackIsRefusedBeforeItAsks_andTellsOfRevisionsOfTheNewHome() throws Exception {
        MirrorSettings settings = MirrorConfiguration.load(file, Map.of(), Map.of());
        try (MirrorProcess mirror = MirrorProcess.start(settings)) {
            awaitSynced(mirror);
            Ended away = run("switchover", "--accept-silent-watchers", "--yes");
            assertThat(away.status()).as(away.err()).isZero();
            assertThat(away.out()).containsPattern("freeze: alarm, from revision \\d+ of the source\\R");
        }

        Ended refused = run("failback", "--accept-silent-watchers", "--freeze=auth");
        assertThat(refused.status()).isEqualTo(1);
        assertThat(refused.err())
                .contains("authentication is not enabled at the new home")
                .doesNotContain("Continue?");

        Ended back = run("failback", "--accept-silent-watchers", "--yes");
        assertThat(back.status()).as(back.err()).isZero();
        assertThat(back.out())
                .containsPattern("freeze: alarm, from revision \\d+ of the new home\\R")
                .containsPattern("drained at: revision \\d+ of the new home\\R")
                .containsPattern("data up to: revision \\d+ of the new home, as of 20")
                .contains("Loss: none");
    }

    private static void awaitSynced(MirrorProcess mirror) {
        await().atMost(Duration.ofSeconds(60))
                .until(() -> mirror.reports().get(0).state() == MirrorState.SYNCED);
    }

    private void stopAfterTheFreeze() throws IOException {
        MirrorSettings settings = MirrorConfiguration.load(file, Map.of(), Map.of());
        HandoverListener stopping = new HandoverListener() {
            @Override
            public void ends(StepPlan step) {
                if (step.name().equals("freeze")) {
                    throw new IllegalStateException("stopped");
                }
            }
        };
        try (MirrorProcess mirror = MirrorProcess.start(settings);
                MirrorParties parties =
                        new MirrorParties(settings.mirrors().get(0), null, null, Duration.ofSeconds(20))) {
            awaitSynced(mirror);
            HandoverOptions options = HandoverOptions.DEFAULTS.acceptingSilentWatchers();
            assertThatThrownBy(() -> Handover.switchover(parties.forward(), options, stopping)
                            .run())
                    .hasMessage("stopped");
        }
    }

    private Ended run(String command, String... options) {
        StringWriter out = new StringWriter();
        StringWriter err = new StringWriter();
        CommandLine line = Understudy.commandLine().setOut(new PrintWriter(out)).setErr(new PrintWriter(err));
        String[] arguments = new String[options.length + 4];
        arguments[0] = "mirror";
        arguments[1] = command;
        arguments[2] = "--config";
        arguments[3] = file.toString();
        System.arraycopy(options, 0, arguments, 4, options.length);
        return new Ended(line.execute(arguments), out.toString(), err.toString());
    }
}
