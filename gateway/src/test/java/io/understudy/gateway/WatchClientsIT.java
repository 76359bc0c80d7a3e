package io.understudy.gateway;

import static io.understudy.gateway.GatewayFixture.PATIENCE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.Client;
import io.etcd.jetcd.Watch;
import io.etcd.jetcd.options.WatchOption;
import io.understudy.config.HostPort;
import io.understudy.etcd.EtcdSettings;
import io.understudy.gateway.hub.HubSettings;
import io.understudy.local.binary.EtcdBinaries;
import io.understudy.local.etcd.EtcdMember;
import io.understudy.local.junit.EtcdExtension;
import io.understudy.local.process.FreePorts;
import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.LongConsumer;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Unmodified clients of etcd watch a gateway as they watch its source.
 *
 * <p>Tests invariant V4.
 */
@Timeout(120)
final class WatchClientsIT {

    private static final Duration PROGRESS = Duration.ofMillis(200);
    private static final String PROGRESS_LINE = "progress notify: ";

    @RegisterExtension
    static final EtcdExtension SOURCE = EtcdExtension.voters(1)
            .named("source")
            .with(etcd -> etcd.extraArguments(
                    EtcdBinaries.find().version().flagSince36("watch-progress-notify-interval") + "=200ms"));

    private static FreePorts ports;
    private static GatewayFixture fixture;
    private static long compacted;
    private static long past;

    /** Clients to be closed after the test. */
    private final List<AutoCloseable> begun = new ArrayList<>();

    @BeforeAll
    static void start() throws Exception {
        ports = FreePorts.take(1);
        put("k/1", "a");
        put("k/1", "b");
        compacted = put("k/2", "c");
        SOURCE.cluster().etcdctl("compact", Long.toString(compacted));
        startGateway();
        past = put("k/1", "d");
        put("k/2", "e");
        SOURCE.cluster().etcdctl("del", "k/1");
        fixture.awaitRevision(put("k/3", "f"));
    }

    @AfterAll
    static void stop() {
        fixture.close();
        ports.close();
    }

    @AfterEach
    void close() throws Exception {
        for (AutoCloseable each : begun) {
            each.close();
        }
        awaitWatchers(0, 0);
    }

    private static void startGateway() throws Exception {
        GatewaySettings settings = GatewaySettings.of(
                "test",
                new HostPort("127.0.0.1", ports.get(0)),
                EtcdSettings.of(source()).withName("source"));
        HubSettings watches = settings.watches();
        fixture = new GatewayFixture(settings.with(new HubSettings(
                watches.maxWatchers(),
                watches.maxWatchersPerStream(),
                watches.catchUpStreams(),
                PROGRESS,
                watches.noLeaderTimeout(),
                watches.bufferBytes())));
        fixture.awaitReady();
    }

    @Test
    void etcdctlPrintsTheSame() throws Exception {
        // Within the window, also after another test restarted the gateway: history comes in batches of its own.
        long recent = put("k/1", "d");
        fixture.awaitRevision(put("k/2", "e"));
        List<String> commands = List.of(
                "k/1",
                "k/1 -w=json",
                "k/1 -w=fields",
                "--prefix k/",
                "--prefix k/ --prev-kv",
                "--prefix k/ --prev-kv -w=json --hex",
                "k/1 k/3",
                "--prefix ''",
                "--prefix k/ --rev=" + recent,
                "--prefix k/ --rev=" + recent + " --prev-kv -w=json",
                "k/1 --rev=" + compacted,
                "--prefix k/ --progress-notify",
                "k/1 -- bash -c 'env | grep ETCD_WATCH_ | sort'");
        List<RunningClient> ofSource = new ArrayList<>();
        List<RunningClient> ofGateway = new ArrayList<>();
        for (String command : commands) {
            ofSource.add(etcdctl(source(), command));
            ofGateway.add(etcdctl(gateway(), command));
        }
        awaitWatchers(commands.size(), commands.size());
        int progressing = commands.indexOf("--prefix k/ --progress-notify");
        // Otherwise it depends on timing whether progress precedes the first write.
        await().atMost(PATIENCE).until(() -> Stream.of(ofSource, ofGateway)
                .allMatch(each -> !each.get(progressing).output().isEmpty()));

        // Commits that follow closely may be batched, here or there.
        int all = commands.indexOf("--prefix k/ --prev-kv -w=json --hex");
        int one = commands.indexOf("k/1 -w=json");
        writeSome(revision -> await().atMost(PATIENCE)
                .until(() -> Stream.of(ofSource, ofGateway).allMatch(each -> hasRevision(each.get(all), revision))));
        long revision = put("k/1", "the last");
        await().atMost(PATIENCE)
                .until(() -> Stream.of(ofSource, ofGateway).allMatch(each -> hasRevision(each.get(one), revision)));

        String last = PROGRESS_LINE + revision;
        await().atMost(PATIENCE).until(() -> ofSource.get(progressing).output().contains(last));
        for (int i = 0; i < commands.size(); i++) {
            RunningClient expected = ofSource.get(i);
            RunningClient actual = ofGateway.get(i);
            await(commands.get(i)).atMost(PATIENCE).untilAsserted(() -> assertThat(comparable(actual))
                    .isNotEmpty()
                    .isEqualTo(comparable(expected)));
        }
    }

    @Test
    void etcdctlReportsACompactedStart() throws Exception {
        String command = "k/1 --rev=" + (compacted - 1);
        RunningClient ofSource = etcdctl(source(), command);
        RunningClient ofGateway = etcdctl(gateway(), command);
        await().atMost(PATIENCE).until(() -> ofSource.hasEnded() && ofGateway.hasEnded());
        assertThat(ofGateway.output())
                .isEqualTo(ofSource.output())
                .anyMatch(line -> line.contains("required revision has been compacted"));
    }

    @Test
    void etcdctlWatchesInteractively() throws Exception {
        RunningClient ofSource = interactive(source());
        RunningClient ofGateway = interactive(gateway());
        for (RunningClient each : List.of(ofSource, ofGateway)) {
            each.type("watch k/1");
            each.type("watch --prev-kv k/2 k/4");
            each.type("watch k/1 --rev=" + past);
            each.type("nonsense");
        }
        awaitWatchers(3, 3);
        writeSome(fixture::awaitRevision);
        long last = put("elsewhere", "not watched");
        fixture.awaitRevision(last);
        for (RunningClient each : List.of(ofSource, ofGateway)) {
            each.type("progress");
        }
        String progress = "progress notify: " + last;
        for (RunningClient each : List.of(ofSource, ofGateway)) {
            await().atMost(PATIENCE).untilAsserted(() -> assertThat(each.output())
                    .filteredOn(progress::equals)
                    .hasSize(3));
        }
        // The order between watches is random.
        assertThat(ofGateway.output()).containsExactlyInAnyOrderElementsOf(ofSource.output());
    }

    @Test
    void jetcdReceivesTheSameEvents() throws Exception {
        List<UnaryOperator<WatchOption.Builder>> options = List.of(
                watch -> watch,
                watch -> watch.isPrefix(true),
                watch -> watch.isPrefix(true).withPrevKV(true),
                watch -> watch.isPrefix(true).withNoPut(true),
                watch -> watch.isPrefix(true).withNoDelete(true).withPrevKV(true),
                watch -> watch.withRange(bytes("k/3")),
                watch -> watch.isPrefix(true).withRevision(past),
                watch -> watch.isPrefix(true).withRevision(past).withPrevKV(true),
                watch -> watch.isPrefix(true).withProgressNotify(true));
        List<JetcdWatch> ofSource = new ArrayList<>();
        List<JetcdWatch> ofGateway = new ArrayList<>();
        Watch source = jetcd(source());
        Watch gateway = jetcd(gateway());
        for (UnaryOperator<WatchOption.Builder> each : options) {
            WatchOption option = each.apply(WatchOption.builder()).build();
            ofSource.add(new JetcdWatch(source, option));
            ofGateway.add(new JetcdWatch(gateway, option));
        }
        awaitWatchers(options.size(), options.size());
        writeSome(fixture::awaitRevision);
        ofSource.get(0).close();
        ofGateway.get(0).close();
        put("k/1", "jetcd's last");

        for (int i = 0; i < options.size(); i++) {
            JetcdWatch expected = ofSource.get(i);
            JetcdWatch actual = ofGateway.get(i);
            boolean puts = i != 0 && i != 3;
            await("option " + i).atMost(PATIENCE).untilAsserted(() -> {
                assertThat(String.join("\n", expected.events())).contains(puts ? "jetcd's last" : "");
                assertThat(actual.events()).isNotEmpty().isEqualTo(expected.events());
            });
        }
        assertThat(ofGateway.get(0).events()).last().isEqualTo("closed");
    }

    @Test
    void jetcdReceivesTheCompactionOfItsStart() {
        WatchOption option = WatchOption.builder().withRevision(compacted - 1).build();
        JetcdWatch ofSource = new JetcdWatch(jetcd(source()), option);
        JetcdWatch ofGateway = new JetcdWatch(jetcd(gateway()), option);
        await().atMost(PATIENCE).until(() -> ofSource.events().contains("closed"));
        await().atMost(PATIENCE).untilAsserted(() -> assertThat(ofGateway.events())
                .isEqualTo(ofSource.events())
                .contains("compacted " + compacted));
    }

    @Test
    void theNodeClientReceivesTheSameEvents() throws Exception {
        NodeClient node = NodeClient.find();
        RunningClient ofSource = begun(node.watch(source().toString(), Long.toString(past)));
        RunningClient ofGateway = begun(node.watch(gateway().toString(), Long.toString(past)));
        for (RunningClient each : List.of(ofSource, ofGateway)) {
            await().atMost(PATIENCE).until(() -> each.output().contains("all connected"));
        }
        writeSome(fixture::awaitRevision);
        put("k/1", "the node client's last");
        for (RunningClient each : List.of(ofSource, ofGateway)) {
            await().atMost(PATIENCE).untilAsserted(() -> assertThat(each.output())
                    .filteredOn(line -> line.contains("the node client's last"))
                    .hasSize(5));
        }
        assertThat(ofGateway.output()).containsExactlyInAnyOrderElementsOf(ofSource.output());
        for (String watcher : List.of("key", "prefix", "range", "all", "past", "puts", "deletes", "compacted")) {
            assertThat(of(watcher, ofGateway)).isNotEmpty().isEqualTo(of(watcher, ofSource));
        }
    }

    @Test
    void allResumeAfterTheGatewayRestarted() throws Exception {
        RunningClient etcdctl = etcdctl(gateway(), "--prefix r/");
        RunningClient interactive = interactive(gateway());
        interactive.type("watch r/1");
        interactive.type("watch r/ r0");
        JetcdWatch jetcd = new JetcdWatch(
                jetcd(gateway()), "r/", WatchOption.builder().isPrefix(true).build());
        awaitWatchers(4, 0);
        RunningClient node = begun(NodeClient.find().watch(gateway().toString(), Long.toString(past)));
        await().atMost(PATIENCE).until(() -> node.output().contains("all connected"));
        put("r/1", "before 1");
        put("r/1", "before 2");
        await().atMost(PATIENCE)
                .untilAsserted(() -> assertThat(etcdctl.output()).contains("before 2"));
        await().atMost(PATIENCE)
                .untilAsserted(
                        () -> assertThat(jetcd.events()).last().asString().contains("before 2"));
        await().atMost(PATIENCE)
                .untilAsserted(
                        () -> assertThat(of("all", node)).last().asString().contains("before 2"));

        fixture.close();
        put("r/1", "meanwhile 1");
        put("r/1", "meanwhile 2");
        startGateway();
        put("r/1", "after");

        List<String> values = List.of("before 1", "before 2", "meanwhile 1", "meanwhile 2", "after");
        await().atMost(PATIENCE)
                .untilAsserted(() -> assertThat(values(etcdctl.output())).isEqualTo(values));
        await().atMost(PATIENCE).untilAsserted(() -> assertThat(values(interactive.output()))
                .containsExactlyInAnyOrderElementsOf(
                        Stream.concat(values.stream(), values.stream()).toList()));
        await().atMost(PATIENCE)
                .untilAsserted(() -> assertThat(values(jetcd.events())).isEqualTo(values));
        await().atMost(PATIENCE)
                .untilAsserted(() -> assertThat(values(of("all", node))).isEqualTo(values));
    }

    /** The values in them that {@link #allResumeAfterTheGatewayRestarted} writes. */
    private static List<String> values(List<String> lines) {
        return lines.stream()
                .filter(line -> line.matches("(?s).*(before|meanwhile|after).*"))
                .map(line -> line.replaceAll("(?s).*?((before|meanwhile) \\d|after).*", "$1"))
                .toList();
    }

    private static List<String> of(String watcher, RunningClient client) {
        return client.output().stream()
                .filter(line -> line.startsWith(watcher + ": "))
                .toList();
    }

    /** Puts, a deletion, and a transaction, in turn: so that responses have one possible form. */
    private static void writeSome(LongConsumer written) {
        written.accept(put("k/1", "one"));
        written.accept(put("k/2", "two\nlines"));
        written.accept(revision(SOURCE.cluster().etcdctl("del", "-w=json", "--prefix", "k/")));
        written.accept(put("k/2", ""));
        written.accept(put("k/9", "nine"));
    }

    private static long put(String key, String value) {
        return revision(SOURCE.cluster().etcdctl("put", "-w=json", "--", key, value));
    }

    private static long revision(String answer) {
        return Long.parseLong(answer.replaceAll("(?s).*\"revision\":(\\d+).*", "$1"));
    }

    private static boolean hasRevision(RunningClient client, long revision) {
        return client.output().stream().anyMatch(line -> line.contains("\"revision\":" + revision));
    }

    private static URI source() {
        EtcdMember member = SOURCE.cluster().members().get(0);
        return member.clientUrl();
    }

    private static URI gateway() {
        return URI.create("http://127.0.0.1:" + fixture.gateway.apiPort());
    }

    /** Waits until so many watchers are synced; the gateway itself is one of the source's. */
    private static void awaitWatchers(int ofGateway, int ofSource) {
        await().atMost(PATIENCE).untilAsserted(() -> {
            assertThat(Scrape.sum(gateway(), "understudy_gateway_watchers")).isEqualTo(ofGateway);
            assertThat(Scrape.sum(source(), "etcd_debugging_mvcc_watcher_total"))
                    .isEqualTo(1 + ofSource);
        });
    }

    private RunningClient etcdctl(URI endpoint, String command) throws IOException {
        String line = GatewayFixture.ETCDCTL + " --endpoints=" + endpoint + " watch " + command;
        return begun(RunningClient.start(List.of("bash", "-c", "exec " + line), Map.of()));
    }

    private RunningClient interactive(URI endpoint) throws IOException {
        return begun(RunningClient.startInteractive(
                List.of(GatewayFixture.ETCDCTL.toString(), "--endpoints=" + endpoint, "watch", "-i")));
    }

    private Watch jetcd(URI endpoint) {
        Client client = begun(Client.builder().endpoints(endpoint).build());
        return client.getWatchClient();
    }

    private <T extends AutoCloseable> T begun(T each) {
        begun.add(each);
        return each;
    }

    /** Without differences between members, and without repeated progress. */
    private static List<String> comparable(RunningClient client) {
        List<String> lines = new ArrayList<>();
        for (String line : client.output()) {
            int last = lines.size() - 1;
            boolean follows = last >= 0 && lines.get(last).startsWith(PROGRESS_LINE);
            // Its place among commits varies; before the first and after the last the test waits for it.
            if (follows && (last > 0 || line.startsWith(PROGRESS_LINE))) {
                lines.remove(last);
            }
            lines.add(line.replaceAll("(\"MemberID\" : |\"member_id\":|\"raft_term\":|\"RaftTerm\" : )\\d+", "$1…"));
        }
        return lines;
    }

    private static ByteSequence bytes(String text) {
        return ByteSequence.from(text, StandardCharsets.UTF_8);
    }
}
