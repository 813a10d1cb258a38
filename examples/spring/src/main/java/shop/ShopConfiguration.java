package shop;

import dev.snowlane.client.IdClient;
import dev.snowlane.client.PrefetchBuffer;
import java.net.URI;
import java.time.Duration;
import java.util.Map;
import javax.sql.DataSource;
import org.hibernate.cfg.ManagedBeanSettings;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.orm.hibernate5.SpringBeanContainer;
import org.springframework.orm.jpa.LocalContainerEntityManagerFactoryBean;
import org.springframework.orm.jpa.vendor.HibernateJpaVendorAdapter;

/** The beans of the shop: the client of Snowlane, its buffer, and Hibernate, which asks Spring for generators. */
@Configuration
@Import(SnowlaneIdGenerator.class)
class ShopConfiguration {
  @Bean
  IdClient idClient() {
    // The first call loads gRPC, which can take seconds on a busy machine.
    return IdClient.builder().endpoints(System.getenv("SNOWLANE_URL")).timeout(Duration.ofSeconds(30)).build();
  }

  @Bean
  PrefetchBuffer ids(IdClient client) {
    return client.prefetch();
  }

  @Bean
  DataSource dataSource() {
    URI url = URI.create(System.getenv("DATABASE_URL"));
    String jdbc = "jdbc:postgresql://" + url.getHost() + ":" + url.getPort() + url.getPath();
    return new DriverManagerDataSource(jdbc, url.getUserInfo(), "");
  }

  @Bean
  LocalContainerEntityManagerFactoryBean entities(DataSource source, ConfigurableListableBeanFactory beans) {
    var factory = new LocalContainerEntityManagerFactoryBean();
    factory.setDataSource(source);
    factory.setPackagesToScan("shop");
    factory.setJpaVendorAdapter(new HibernateJpaVendorAdapter());
    // The last two lines let Hibernate take generators from Spring. Spring Boot sets the first of them itself.
    factory.setJpaPropertyMap(
        Map.of(
            "hibernate.hbm2ddl.auto", "update",
            ManagedBeanSettings.BEAN_CONTAINER, new SpringBeanContainer(beans),
            ManagedBeanSettings.ALLOW_EXTENSIONS_IN_CDI, true));
    return factory;
  }
}
