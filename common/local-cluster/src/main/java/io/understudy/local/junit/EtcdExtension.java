package io.understudy.local.junit;

import io.understudy.local.etcd.LocalEtcd;
import io.understudy.local.etcd.LocalEtcdBuilder;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * Runs an etcd cluster for tests.
 *
 * <pre>{@code
 * @RegisterExtension
 * static final EtcdExtension source = EtcdExtension.voters(3).learners(1).named("source");
 * }</pre>
 *
 * <p>In a static field the cluster starts once for the class and is mended after each test: faults of
 * proxies end, paused members go on, ended ones start again. In an instance field each test has its own. Members don't write through to the disk, and changes of
 * the membership are not checked by etcd, so that a cluster is there in a second or two; {@link #with} changes that.
 */
public final class EtcdExtension implements BeforeAllCallback, BeforeEachCallback, AfterEachCallback, AfterAllCallback {

    private final int voters;
    private int learners;
    private String name = "etcd";
    private UnaryOperator<LocalEtcdBuilder> more = builder -> builder;
    private boolean perClass;
    private @Nullable LocalEtcd cluster;
    private @Nullable TestFolder folder;

    private EtcdExtension(int voters) {
        this.voters = voters;
    }

    public static EtcdExtension voters(int voters) {
        return new EtcdExtension(voters);
    }

    public EtcdExtension learners(int value) {
        learners = value;
        return this;
    }

    /** Name of the cluster, to tell several in one test apart. */
    public EtcdExtension named(String value) {
        name = value;
        return this;
    }

    /** Puts fault proxies before the members, as {@link LocalEtcdBuilder#behindProxies}. */
    public EtcdExtension behindProxies() {
        return with(LocalEtcdBuilder::behindProxies);
    }

    /** Whatever else the builder offers. */
    public EtcdExtension with(UnaryOperator<LocalEtcdBuilder> settings) {
        UnaryOperator<LocalEtcdBuilder> before = more;
        more = builder -> settings.apply(before.apply(builder));
        return this;
    }

    /** The running cluster. */
    public LocalEtcd cluster() {
        LocalEtcd running = cluster;
        if (running == null) {
            throw new IllegalStateException("cluster " + name + " runs only during a test");
        }
        return running;
    }

    @Override
    public void beforeAll(ExtensionContext context) {
        perClass = true;
        start(context);
    }

    @Override
    public void beforeEach(ExtensionContext context) {
        if (!perClass) {
            start(context);
        }
    }

    @Override
    public void afterEach(ExtensionContext context) {
        context.getExecutionException().ifPresent(failure -> showLogs(context));
        if (perClass) {
            heal();
        } else {
            close();
        }
    }

    @Override
    public void afterAll(ExtensionContext context) {
        if (perClass) {
            close();
        }
    }

    /** Mends what a test broke, as {@link LocalEtcd#mend}. */
    public void heal() {
        cluster().mend();
    }

    private void start(ExtensionContext context) {
        TestFolder made = TestFolder.of(context, name);
        folder = made;
        LocalEtcd started = more.apply(Provider.of("etcd")
                        .configure(LocalEtcd.builder())
                        .name(name)
                        .voters(voters)
                        .learners(learners)
                        .dataDirectory(made.path())
                        .fsync(false)
                        .strictReconfiguration(false))
                .build();
        cluster = started;
        try {
            started.start();
        } catch (RuntimeException e) {
            made.keep();
            throw e;
        }
    }

    private void showLogs(ExtensionContext context) {
        LocalEtcd failed = cluster;
        if (failed != null) {
            failed.members().forEach(member -> TestFolder.show(context, member.name(), member.log()));
        }
        TestFolder kept = folder;
        if (kept != null) {
            kept.keep();
        }
    }

    private void close() {
        LocalEtcd ended = cluster;
        if (ended != null) {
            ended.close();
        }
        TestFolder made = folder;
        if (made != null) {
            made.close();
        }
        cluster = null;
        folder = null;
    }
}
