package io.understudy.local.junit;

import io.understudy.local.binary.EtcdBinaries;
import io.understudy.local.binary.EtcdNotFoundException;
import io.understudy.local.etcd.LocalEtcd;
import io.understudy.local.etcd.LocalEtcdBuilder;
import java.nio.file.Path;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.extension.ConditionEvaluationResult;
import org.junit.jupiter.api.extension.ExecutionCondition;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * Runs an etcd cluster for tests.
 *
 * <pre>{@code
 * @RegisterExtension
 * static final EtcdExtension source = EtcdExtension.voters(3).learners(1).named("source");
 * }</pre>
 *
 * <p>In a static field the cluster is there for the class and is repaired after each test: faults of proxies end,
 * paused members resume, ended ones restart. It may have served another class before: it is empty, but its revision is
 * not 1 and it has the name's cluster id; {@link #own} prevents that. In an instance field each test has a new one.
 * Members don't write through to the disk, and changes of the membership are not checked by etcd, so that a cluster is
 * there in a second or two; {@link #with} changes that.
 */
public final class EtcdExtension implements ServerExtension {

    private final int voters;
    private int learners;
    private boolean own;
    private String name = "etcd";
    private UnaryOperator<LocalEtcdBuilder> more = builder -> builder;
    private final ServerFixture<LocalEtcd> fixture = new ServerFixture<>("etcd cluster", this::build);

    private EtcdExtension(int voters) {
        this.voters = voters;
        share();
    }

    public static EtcdExtension voters(int voters) {
        return new EtcdExtension(voters);
    }

    public EtcdExtension learners(int value) {
        learners = value;
        return share();
    }

    /** Name of the cluster, to distinguish several in one test. */
    public EtcdExtension named(String value) {
        name = value;
        return share();
    }

    /** Puts fault proxies before the members, as {@link LocalEtcdBuilder#behindProxies}. */
    public EtcdExtension behindProxies() {
        return with(LocalEtcdBuilder::behindProxies);
    }

    /** Applies further settings of the builder. */
    public EtcdExtension with(UnaryOperator<LocalEtcdBuilder> settings) {
        UnaryOperator<LocalEtcdBuilder> before = more;
        more = builder -> settings.apply(before.apply(builder));
        return own();
    }

    /** A cluster that no other class has used or will use. */
    public EtcdExtension own() {
        own = true;
        return share();
    }

    private EtcdExtension share() {
        fixture.shareAs(own ? null : "etcd " + name + " " + voters + " " + learners);
        return this;
    }

    /** The running cluster. */
    public LocalEtcd cluster() {
        return fixture.servers();
    }

    /** Mends what a test broke, as {@link LocalEtcd#mend}. */
    public void heal() {
        cluster().mend();
    }

    @Override
    public ServerFixture<LocalEtcd> fixture() {
        return fixture;
    }

    private LocalEtcd build(Path folder) {
        return more.apply(Provider.of("etcd")
                        .configure(LocalEtcd.builder())
                        .name(name)
                        .voters(voters)
                        .learners(learners)
                        .dataDirectory(folder)
                        .fsync(false)
                        .strictReconfiguration(false))
                .build();
    }

    /**
     * Skips all tests if the configured version of etcd is optional and not available. Optional is set by {@code
     * -Dunderstudy.etcd.optional=true}: versions other than 3.5 need Go. Registered for every test.
     */
    public static final class EtcdVersionCondition implements ExecutionCondition {

        private static final String OPTIONAL = "understudy.etcd.optional";

        @Override
        public ConditionEvaluationResult evaluateExecutionCondition(ExtensionContext context) {
            if (!Boolean.getBoolean(OPTIONAL)) {
                return ConditionEvaluationResult.enabled("etcd is required");
            }
            try {
                return ConditionEvaluationResult.enabled(
                        "etcd " + EtcdBinaries.find().version());
            } catch (EtcdNotFoundException e) {
                // Reports drop the reason when a whole class is skipped.
                System.err.println("skipped: " + e.getMessage());
                return ConditionEvaluationResult.disabled(String.valueOf(e.getMessage()));
            }
        }
    }
}
