package io.understudy.gateway;

import static io.understudy.gateway.GatewayFixture.PATIENCE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.Client;
import io.etcd.jetcd.KV;
import io.etcd.jetcd.op.Cmp;
import io.etcd.jetcd.op.CmpTarget;
import io.etcd.jetcd.op.Op;
import io.etcd.jetcd.options.GetOption;
import io.etcd.jetcd.options.GetOption.SortOrder;
import io.etcd.jetcd.options.GetOption.SortTarget;
import io.understudy.local.junit.EtcdExtension;
import io.understudy.local.process.Command;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Unchanged clients of etcd receive the same answers from the gateway and from its source, except the member id.
 *
 * <p>Tests invariant A1b.
 */
@Timeout(180)
final class ClientsIT {

    @RegisterExtension
    static final EtcdExtension SOURCE = EtcdExtension.voters(1).named("source");

    private static GatewayFixture fixture;
    private static String compacted;
    private static String past;
    private static String current;
    private static Map<String, String> printedOfSource;
    private static Map<String, String> printedOfGateway;

    @BeforeAll
    static void write() throws Exception {
        put("k/1", "value 1");
        put("k/2", "value 2");
        put("gone", "x");
        SOURCE.cluster().etcdctl("del", "gone");
        put("k/3", "a value\nof two lines");
        put("\u00e9\u0001", "");
        compacted = revision();
        SOURCE.cluster().etcdctl("compact", compacted);
        fixture = new GatewayFixture(GatewayFixture.settings(SOURCE.cluster()));
        fixture.awaitReady();
        put("k/4", "0 comes first");
        put("k/1", "again");
        past = revision();
        String lease = SOURCE.cluster().etcdctl("lease", "grant", "3600").split(" ", -1)[1];
        SOURCE.cluster().etcdctl("put", "k/5", "leased", "--lease=" + lease);
        SOURCE.cluster().etcdctl("del", "k/3");
        current = revision();
        fixture.awaitRevision(Long.parseLong(current));
        // The header's raft term is known after the first status request to the source.
        await().atMost(PATIENCE).until(() -> fixture.everything().getHeader().getRaftTerm() > 0);
        Path etcdctl = GatewayFixture.ETCDCTL;
        CompletableFuture<Map<String, String>> ofSource =
                CompletableFuture.supplyAsync(() -> printed(etcdctl, source()));
        printedOfGateway = printed(etcdctl, gateway());
        printedOfSource = ofSource.get();
    }

    @AfterAll
    static void close() {
        fixture.close();
    }

    /** With options in every combination that shows something of its own. */
    private static List<String> commands() {
        return List.of(
                "get k/2",
                "get nothing",
                "get k/1 k/3",
                "get k/3 k/1",
                "get \u00e9\u0001 -w=json",
                "get k/2 --consistency=s",
                "get --prefix k/ --consistency=s -w=fields",
                "get --prefix k/ --consistency=l -w=fields",
                "get --prefix k/ -w=json",
                "get --prefix k/ -w=json --hex",
                "get --prefix k/ -w=fields --hex",
                "get --prefix k/ -w=simple --hex",
                "get --prefix k/ -w=protobuf",
                "get --prefix k/ --print-value-only",
                "get --prefix k/ --keys-only",
                "get --prefix k/ --keys-only -w=json",
                "get --prefix k/ --count-only",
                "get --prefix k/ --count-only -w=fields",
                "get --prefix k/ --limit=2 -w=fields",
                "get --prefix k/ --limit=4 -w=fields",
                "get --from-key k/2",
                "get --from-key k/2 --limit=1 -w=json",
                "get --prefix '' -w=fields",
                "get --from-key '' --keys-only",
                "get --prefix k/ --order=ASCEND",
                "get --prefix k/ --order=DESCEND",
                "get --prefix k/ --sort-by=KEY --order=DESCEND",
                "get --prefix k/ --sort-by=CREATE --order=DESCEND",
                "get --prefix k/ --sort-by=MODIFY --order=DESCEND",
                "get --prefix k/ --sort-by=MODIFY --limit=2",
                "get --prefix k/ --sort-by=VERSION --order=ASCEND",
                "get --prefix k/ --sort-by=VALUE --order=ASCEND",
                "get --prefix k/ --rev=$CURRENT -w=fields",
                "get --prefix k/ --rev=$PAST -w=fields",
                "get --prefix k/ --rev=$PAST --consistency=s -w=json",
                "get --prefix k/ --rev=$COMPACTED -w=fields",
                "get k/1 --rev=1",
                "get k/1 --rev=99999",
                "get k/1 --rev=99999 --consistency=s",
                "get ''",
                transaction("value(\"k/1\") = \"again\"\\n\\nget k/1\\nget --prefix k/\\n\\nget k/2\\n\\n"),
                transaction("version(\"k/1\") > \"7\"\\nmod(\"k/2\") = \"0\"\\n\\nget k/1\\n\\nget k/2\\n\\n"),
                transaction("create(\"nothing\") = \"0\"\\n\\n\\n\\n"));
    }

    private static String transaction(String input) {
        return "txn -w=fields <<< $'" + input + "'";
    }

    @ParameterizedTest
    @MethodSource("commands")
    void etcdctlPrintsTheSame(String command) {
        assertThat(printedOfGateway.get(command)).isNotEmpty().isEqualTo(printedOfSource.get(command));
    }

    @Test
    void jetcdReceivesTheSameRanges() {
        List<UnaryOperator<GetOption.Builder>> options = List.of(
                get -> get,
                get -> get.isPrefix(true),
                get -> get.isPrefix(true).withSerializable(true),
                get -> get.isPrefix(true).withLimit(2),
                get -> get.isPrefix(true).withSortField(SortTarget.MOD).withSortOrder(SortOrder.DESCEND),
                get -> get.isPrefix(true).withSortField(SortTarget.VALUE).withSortOrder(SortOrder.ASCEND),
                get -> get.isPrefix(true).withKeysOnly(true),
                get -> get.isPrefix(true).withCountOnly(true),
                get -> get.isPrefix(true).withMinModRevision(4).withMaxCreateRevision(8),
                get -> get.isPrefix(true).withMaxModRevision(4),
                get -> get.isPrefix(true).withMinCreateRevision(4),
                get -> get.isPrefix(true).withRevision(Long.parseLong(past)),
                get -> get.withRange(bytes("k/3")),
                get -> get.withRange(bytes("\0")),
                get -> get.withRevision(1),
                get -> get.withRevision(99_999));
        for (int i = 0; i < options.size(); i++) {
            GetOption option = options.get(i).apply(GetOption.builder()).build();
            assertThat(jetcd(gateway(), kv -> kv.get(bytes("k/"), option)))
                    .as("option %d", i)
                    .isEqualTo(jetcd(source(), kv -> kv.get(bytes("k/"), option)));
        }
    }

    @Test
    void jetcdReceivesTheSameTransactions() {
        Op one = Op.get(bytes("k/1"), GetOption.DEFAULT);
        Op all = Op.get(
                bytes("k/"), GetOption.builder().isPrefix(true).withLimit(2).build());
        Op nested = Op.txn(new Cmp[] {value("k/2", "other")}, new Op[] {one}, new Op[] {all});
        List<Function<KV, Future<?>>> transactions = List.of(
                kv -> kv.txn()
                        .If(value("k/1", "again"))
                        .Then(one, all)
                        .Else(all)
                        .commit(),
                kv -> kv.txn()
                        .If(value("k/1", "other"))
                        .Then(one)
                        .Else(all, one)
                        .commit(),
                kv -> kv.txn()
                        .If(new Cmp(bytes("k/1"), Cmp.Op.GREATER, CmpTarget.modRevision(2)))
                        .Then(nested, one)
                        .commit(),
                kv -> kv.txn().Then().commit());
        for (int i = 0; i < transactions.size(); i++) {
            assertThat(jetcd(gateway(), transactions.get(i)))
                    .as("transaction %d", i)
                    .isEqualTo(jetcd(source(), transactions.get(i)));
        }
    }

    @Test
    @Tag("variants")
    void theNodeClientReceivesTheSameAnswers() throws Exception {
        NodeClient client = NodeClient.find();
        String expected = withoutMember(client.read(source(), current, past));
        assertThat(expected).contains("one as string: \"value 2\"").contains("OutOfRange");
        assertThat(withoutMember(client.read(gateway(), current, past))).isEqualTo(expected);
    }

    private static void put(String key, String value) {
        SOURCE.cluster().etcdctl("put", key, "--", value);
    }

    private static String revision() {
        return SOURCE.cluster().etcdctl("get", "x", "-w=json").replaceAll(".*\"revision\":(\\d+).*\\s*", "$1");
    }

    private static String source() {
        return SOURCE.cluster().clientUrls().get(0).toString();
    }

    private static String gateway() {
        return "http://127.0.0.1:" + fixture.gateway.apiPort();
    }

    /** What each command printed, its status and its error. In one process, since there are many. */
    private static Map<String, String> printed(Path etcdctl, String endpoint) {
        StringBuilder script = new StringBuilder("errors=$(mktemp); trap 'rm $errors' EXIT\n");
        for (String command : commands()) {
            script.append(etcdctl)
                    .append(" --endpoints=" + endpoint + " ")
                    .append(command.replace("$CURRENT", current)
                            .replace("$PAST", past)
                            .replace("$COMPACTED", compacted))
                    .append(" 2> $errors")
                    .append(isBinary(command) ? " | base64 -w0" : "")
                    .append("\necho status ${PIPESTATUS[0]}; grep ^Error $errors; printf '\\0'\n");
        }
        String[] outputs =
                Command.of(List.of("bash", "-c", script + "true")).run(PATIENCE).split("\0", -1);
        Map<String, String> printed = new HashMap<>();
        for (int i = 0; i < commands().size(); i++) {
            printed.put(commands().get(i), comparable(commands().get(i), outputs[i]));
        }
        return printed;
    }

    private static boolean isBinary(String command) {
        return command.contains("protobuf");
    }

    private static String comparable(String command, String output) {
        return isBinary(command)
                ? RawCalls.comparable(Base64.getDecoder().decode(output.replaceAll("status 0\\s*", "")))
                : withoutMember(output);
    }

    private static String jetcd(String endpoint, Function<KV, Future<?>> call) {
        try (Client client = Client.builder().endpoints(endpoint).build()) {
            return withoutMember(call.apply(client.getKVClient()).get().toString());
        } catch (ExecutionException e) {
            return String.valueOf(e.getCause());
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    private static Cmp value(String key, String value) {
        return new Cmp(bytes(key), Cmp.Op.EQUAL, CmpTarget.value(bytes(value)));
    }

    private static ByteSequence bytes(String text) {
        return ByteSequence.from(text, StandardCharsets.UTF_8);
    }

    /** Of all the ways in which it is shown. */
    private static String withoutMember(String output) {
        return output.replaceAll("(\"MemberID\" : |\"member_id\":\"?|member_id: )-?[0-9a-f]+", "$1…");
    }
}
