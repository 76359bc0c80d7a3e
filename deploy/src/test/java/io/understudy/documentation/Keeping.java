package io.understudy.documentation;

import io.understudy.documentation.Document.Block;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * By what a block of code is kept true.
 *
 * @param document from the top of the repository
 * @param beginning of the block; a semicolon is where another line begins
 */
record Keeping(String document, String beginning, List<String> by) {

    /** A file of ours that does what the block shows, and what is there to be seen of it. */
    private static final Pattern EVIDENCE = Pattern.compile("(\\S+) \"(.*)\"");

    /** Whatever is in such a block is told by its owner: that nobody runs it, and why. */
    private static final String NOBODY = "nobody: ";

    /**
     * The decisions. Blocks with nothing but commands of ours need none. Besides evidence there stand:
     *
     * <ul>
     *   <li>{@code gateway} or {@code mirror}: settings, which are loaded
     *   <li>{@code checkpoint} or {@code home}: records, which are read and written again
     *   <li>{@code java}: compiled
     *   <li>{@code yaml}: well-formed, and files that it names are there
     *   <li>{@code archive}: a list of what is shipped
     *   <li>{@code maven}: its profiles, modules and tests are looked for
     *   <li>{@code nobody}, and why
     * </ul>
     */
    static final List<Keeping> ALL = table("""
            README.md | snapshot, then every commit | nobody: a drawing
            README.md | mirror ready after | LabReportTest "seen at the gateway"; LabIT "putMillis"
            README.md | mvn verify | maven; .ci/run "mvn -B verify"
            common/local-cluster/README.md | @RegisterExtension | java; EtcdExtensionIT "behindProxies()"

            deploy/README.md | bin/understudy | archive
            deploy/README.md | docker build | local-images "docker build"; container "--cap-drop ALL"
            deploy/README.md | tar xf | InstallIT "install.sh"
            deploy/README.md | sudo systemctl | InstallIT "systemd-analyze"; systemd "systemctl start understudy-supervisor"
            deploy/README.md | UNDERSTUDY_ADVISORIES= | maven; AdvisoriesIT "UNDERSTUDY_ADVISORIES"
            deploy/README.md | understudy-lab.properties | SecuredLabIT "hasWhatTheReadmeLists"; ten-thousand-keys "understudy-lab.properties"
            deploy/README.md | $ understudy cluster status --endpoints http://127.0.0.1:23891;cluster 724f729dda55cfd1: 3 voters, 3 healthy | ClusterStatusIT "learner-slot-taken: before 3.6, etcd allows one learner"
            deploy/README.md | $ understudy cluster status --endpoints http://127.0.0.1:23891;cluster 724f729dda55cfd1: 3 voters, 0 healthy | ClusterStatusIT "quorum-lost: nothing can be written or changed: 2 of 3 voters are needed, 1 answers."
            deploy/README.md | $ understudy cluster add m4 | ManualMachinesTest "start it without data, to join"; ClusterChangeIT "--dry-run"
            deploy/README.md | $ understudy cluster add m5 | MisconfiguredAddIT "etcd-adds"; RefusalsTest "move the leadership"; ClusterChangeIT "--dry-run"
            deploy/README.md | $ understudy cluster scale 3 | ClusterChangeIT "done: "; upgrade "roll --to-version"
            deploy/README.md | $ understudy cluster snapshot save | ClusterAuthIT ""snapshot", "save""; SnapshotIT "restore.restore("
            deploy/README.md | $ understudy cluster recover | RecoveryIT "the quorum is back"
            deploy/README.md | supervisor vm/ | SupervisorIT "standby-failover"
            deploy/README.md | cluster    3 voters, 0 healthy | RulesTest "withoutAQuorumNothingIsChangedAndTheWayOutIsTold"; nobody: the words are of one run
            deploy/src/main/dist/compose/README.md | mkdir | self-check "read_at gateway"; nobody: needs an engine and the images of others
            deploy/src/main/dist/compose/README.md | docker compose exec | self-check "supervise status"; TurnIT "pause"; nobody: needs an engine and the images of others
            deploy/src/main/dist/kubernetes/README.md | kubectl kustomize | KubernetesManifestsTest "kubectl"; nobody: what is rendered is checked, but applied to no cluster
            deploy/src/main/dist/kubernetes/README.md | { printf | KubernetesManifestsTest "theAlertsMakeAnObjectForThePrometheusOperator"; nobody: what it makes is checked, but applied to no cluster
            deploy/src/main/dist/kubernetes/README.md | kubectl -n | TurnIT "pause"; nobody: applied to no cluster
            deploy/src/main/dist/kubernetes/README.md | resources: [../supervised] | KubernetesManifestsTest "theOverlayWithSupervisorsThatTheReadmeShowsIsRendered"
            deploy/src/main/dist/kubernetes/README.md | resources: [../production] | yaml; KubernetesManifestsTest "theOverlayThatTheReadmeShowsIsRendered"

            gateway/README.md | deploy/understudy gateway | GatewayIT "etcdctl("
            gateway/README.md | mvn -B test -Plong -Dpart=speed | maven; MemoryTest "memory keys="; WriteSpeedTest "applied changesPerSecond="
            gateway/README.md | mvn -B install | maven; EntryStoreBenchmark "class EntryStoreBenchmark"; CpuTime "InternalProfiler"; nobody: takes a quarter of an hour
            gateway/README.md | $ curl -s 127.0.0.1:2379/v3/kv/range | JsonMethodsIT "kv/range"; JsonDifferenceIT "kv/range"
            gateway/README.md | $ curl -sN 127.0.0.1:2379/v3/watch | JsonWatchIT "v3/watch"
            gateway/README.md | mvn -B verify -Plong -Dpart=speed -pl gateway -am -Dtest=none -Dit.test=OverloadIT | maven; OverloadIT "as many as are answered"
            gateway/README.md | mvn -B verify -Plong -Dpart=schedules -pl gateway -am -Dtest=none -Dit.test=SoakIT | maven
            gateway/README.md | tls: | gateway
            gateway/README.md | $ curl -s '127.0.0.1:8080/v1/kv/greeting | RestIT "max_staleness=5s"
            gateway/README.md | $ curl -N '127.0.0.1:8080/v1/watch | RestWatchIT "/v1/watch?prefix"
            gateway/README.md | const events | KeyBrowserIT "const events"; RestWatchIT "gap"
            gateway/README.md | # gateway-1.yaml | gateway
            gateway/README.md | # patroni.yml | yaml; patroni "etcd3:"
            gateway/README.md | etcdctl user add gateway | LeastPrivilegesIT ""grant-permission", "gateway", "--prefix", "read""
            gateway/README.md | source: {kafka | gateway

            mirror/README.md | etcd  ──► | nobody: a drawing
            mirror/README.md | {"format":1,"source" | checkpoint
            mirror/README.md | {"format":1,"mirror" | home
            mirror/README.md | etcdctl user add mirror | SecuredCluster ""grant-role", MIRROR, MIRROR"
            mirror/README.md | curl -H "Authorization: $TOKEN" $SOURCE | LeastPrivilegesIT "theReadmeGrantsTheSame"
            mirror/README.md | curl -H "Authorization: $TOKEN" $TARGET | LeastPrivilegesIT "theReadmeGrantsTheSame"
            mirror/README.md | kafka-acls.sh | KafkaPrivilegesIT "AclCommand"
            mirror/README.md | mirrors:;dr:;source: {endpoints: [http://127.0.0.1:23791]} | mirror
            mirror/README.md | $ kafka-console-consumer.sh | PlainConsumersIT "ConsoleConsumer"
            mirror/README.md | public static void main | PlainConsumersIT "ReadTopic.java"
            mirror/README.md | mirrors:;remote: | mirror
            mirror/README.md | clusters = core, dr | LocalMirrorMaker "core->dr.enabled=true"; MirrorMakerIT "LocalMirrorMaker"
            mirror/README.md | mirrors:;dr:;source: {endpoints: [http://10.0.0.1:2379 | mirror
            """);

    boolean isOf(Block block) {
        return block.place().document().equals(Repository.ROOT.resolve(document))
                && block.text()
                        .lines()
                        .map(String::strip)
                        .filter(line -> !line.isEmpty())
                        .collect(Collectors.joining(";"))
                        .startsWith(beginning);
    }

    boolean isBy(String word) {
        return by.contains(word);
    }

    /** Those of the keepers that are files, with what has to stand in each. */
    List<Evidence> evidence() {
        return by.stream()
                .map(EVIDENCE::matcher)
                .filter(Matcher::matches)
                .map(found -> new Evidence(found.group(1), found.group(2)))
                .toList();
    }

    /** Whether somebody has decided at all. */
    boolean isDecided() {
        return !by.isEmpty()
                && by.stream()
                        .allMatch(each -> each.startsWith(NOBODY)
                                || EVIDENCE.matcher(each).matches()
                                || List.of(
                                                "gateway",
                                                "mirror",
                                                "checkpoint",
                                                "home",
                                                "java",
                                                "yaml",
                                                "archive",
                                                "maven")
                                        .contains(each));
    }

    /**
     * Where something is run or checked.
     *
     * @param file its name, without {@code .java}, or its path
     */
    record Evidence(String file, String phrase) {

        boolean isThere() {
            return Repository.files().stream()
                    .filter(each -> each.endsWith(file) || each.endsWith(file + ".java"))
                    .anyMatch(each -> Repository.text(each).contains(phrase));
        }
    }

    private static List<Keeping> table(String rows) {
        return rows.lines()
                .filter(row -> !row.isBlank())
                .map(row -> row.split(" \\| ", -1))
                .map(cells -> new Keeping(
                        cells[0],
                        cells[1],
                        Arrays.stream(cells[2].split("; ", -1)).toList()))
                .toList();
    }
}
