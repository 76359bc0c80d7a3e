package io.understudy.reference;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.fields;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaField;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.lang.ArchCondition;
import com.tngtech.archunit.lang.ConditionEvents;
import com.tngtech.archunit.lang.SimpleConditionEvent;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.DistributionSummary;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.MultiGauge;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.understudy.architecture.CompiledClasses;
import io.understudy.metrics.Declared;
import io.understudy.metrics.Metric;
import java.util.List;
import org.junit.jupiter.api.Test;

/**
 * The list of metrics is what the code has: nothing is missing in it, and nothing is in it that is gone.
 *
 * <p>Tests invariant ME1.
 */
final class MetricsReferenceTest {

    private static final JavaClasses PRODUCTION = CompiledClasses.ofProduction();

    private static final List<Metric> ALL = MetricsReference.sections().stream()
            .flatMap(section -> section.metrics().stream())
            .toList();

    @Test
    void everyDeclarationIsListed() {
        List<String> declared = PRODUCTION.stream()
                .filter(type -> type.isAssignableTo(Declared.class) && type.isEnum())
                .flatMap(type -> type.getFields().stream())
                .filter(field -> field.getRawType().equals(field.getOwner()))
                .map(JavaField::getName)
                .toList();
        assertThat(declared).hasSameSizeAs(ALL);
        assertThat(ALL.stream().map(Metric::name)).doesNotHaveDuplicates();
        assertThat(ALL.stream().map(Metric::prometheusName)).doesNotHaveDuplicates();
    }

    @Test
    void whatIsDeclaredIsMeasured() {
        fields().that(DescribedPredicate.describe(
                        "are declarations of meters",
                        field -> field.getOwner().isAssignableTo(Declared.class)
                                && field.getModifiers().contains(JavaModifier.STATIC)
                                && field.getRawType().equals(field.getOwner())))
                .should(new ArchCondition<>("be registered somewhere") {
                    @Override
                    public void check(JavaField field, ConditionEvents events) {
                        boolean used = field.getAccessesToSelf().stream()
                                .anyMatch(access -> !access.getOriginOwner().equals(field.getOwner()));
                        events.add(new SimpleConditionEvent(field, used, field.getFullName() + " is used by nobody"));
                    }
                })
                .check(PRODUCTION);
    }

    @Test
    void nothingIsMeasuredThatIsNotDeclared() {
        noClasses()
                .that()
                .doNotHaveFullyQualifiedName(Declared.class.getName())
                .should()
                .callMethodWhere(DescribedPredicate.describe("makes a meter of its own", call -> {
                    String owner = call.getTarget().getOwner().getName();
                    String method = call.getTarget().getName();
                    boolean builds = method.equals("builder")
                            && List.of(
                                            Counter.class,
                                            Gauge.class,
                                            Timer.class,
                                            DistributionSummary.class,
                                            MultiGauge.class)
                                    .stream()
                                    .anyMatch(type -> type.getName().equals(owner));
                    boolean registers = owner.equals(MeterRegistry.class.getName())
                            && List.of("counter", "gauge", "timer", "summary", "more")
                                    .contains(method);
                    return builds || registers;
                }))
                .check(PRODUCTION);
    }

    @Test
    void namesAreWellFormed() {
        MeterRegistry registry = new SimpleMeterRegistry();
        for (Metric metric : ALL) {
            String[] tags = metric.tags().stream()
                    .flatMap(tag -> List.of(tag.key(), "x").stream())
                    .toArray(String[]::new);
            var unused = registry.counter(metric.name(), tags);
        }
        assertThat(MetricNames.faults(registry)).isEmpty();
        assertThat(ALL).allSatisfy(metric -> {
            assertThat(metric.meaning()).isNotBlank().doesNotContain("|");
            assertThat(metric.tags()).allSatisfy(tag -> assertThat(tag.values()).isNotBlank());
        });
    }
}
