// Invented notes, by the code of their language.

export const EXAMPLES = {
  ENG: "72-year-old woman with type 2 diabetes, hypertenson and atrial fibrillation, admitted with fever and shortness of breath. Echocardiography: mitral stenosis (MS). The MS is moderate. No seizures, no jaundice.",
  SPA: "Mujer de 72 años con HTA, diabetes mellitus tipo 2 y fibrilación auricular que ingresa por fiebre y disnea. Sin convulsiones. Antecedente de accidente cerebrovascular.",
  FRE: "Patiente de 72 ans, hypertension artérielle, diabète et insuffisance cardiaque, admise pour fièvre et dyspnée. Pas de crise d’épilepsie. Bronchopneumopathie chronique obstructive (BPCO) connue.",
  GER: "72-jährige Patientin mit Bluthochdruck, Diabetes mellitus und Vorhofflimmern, aufgenommen mit Fieber und Atemnot. Kein Krampfanfall. Bekannte Herzinsuffizienz, Verdacht auf Lungenentzündung.",
  ITA: "Donna di 72 anni con ipertensione, diabete mellito e fibrillazione atriale, ricoverata per febbre e dispnea. Nota sclerosi multipla. Non convulsioni.",
  POR: "Mulher de 72 anos com hipertensão, diabetes mellitus e fibrilação atrial, internada por febre e dispneia. Sem convulsões. Insuficiência renal crônica.",
  DUT: "72-jarige vrouw met hypertensie, diabetes mellitus en boezemfibrilleren, opgenomen met koorts en kortademigheid. Geen epilepsie. Bekend met hartfalen.",
  RUS: "Пациентка 72 лет с гипертонией, сахарным диабетом 2 типа и пневмонией. Лихорадка, одышка. Судорог нет.",
  JPN: "72歳女性。高血圧、糖尿病、心房細動の既往あり。発熱と呼吸困難で入院。てんかん発作なし。",
  CHI: "72岁女性，有高血压、糖尿病和心房颤动病史，因发热、呼吸困难入院。无癫痫发作。",
  CZE: "Žena, 72 let, s hypertenzí, diabetes mellitus a fibrilací síní, přijata pro horečku a dušnost. Bez epileptických záchvatů. Srdeční selhání.",
  TUR: "72 yaşında kadın hasta; hipertansiyon, diyabet ve atriyal fibrilasyon öyküsü var, ateş ve nefes darlığı ile yatırıldı. Nöbet yok.",
  POL: "72-letnia kobieta z nadciśnieniem, cukrzycą i migotaniem przedsionków, przyjęta z gorączką i dusznością.",
  SWE: "72-årig kvinna med hypertoni, diabetes mellitus och förmaksflimmer, inlagd med feber och andnöd.",
  KOR: "72세 여성. 고혈압, 당뇨병, 심방세동 병력이 있으며 발열과 호흡곤란으로 입원함.",
};
